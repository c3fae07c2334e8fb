import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BatchJob } from '../../../src/core/jobs/batch-job.js';
import { JobClaims } from '../../../src/platform/database/job-claims.js';
import { JobStore } from '../../../src/platform/database/job-store.js';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { errorOf, GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

const worker = new FixtureWorker({ model: 'stt' });
let postgres: PostgresServer;
let rig: GatewayRig;

beforeAll(async () => {
  postgres = await PostgresServer.start();
  rig = await GatewayRig.start({
    models: [sttModel({ addresses: [`127.0.0.1:${await worker.start()}`] })],
    settings: { 'database.url': postgres.url() },
  });
  await rig.ready('stt');
}, 60_000);
afterAll(async () => {
  await rig.close();
  worker.stop();
  await postgres[Symbol.asyncDispose]();
});

const transcribe = (headers: Record<string, string> = {}): Promise<Response> =>
  rig.post('/v1/audio/transcriptions', formOf({ model: 'stt' }), { headers });

/** With `database.url`, an id means what a key does. */
const NEED_IT: readonly Record<string, string>[] = [
  { 'x-request-id': 'named' },
  { 'idempotency-key': 'k' },
  { prefer: 'respond-async' },
];

async function expectToWaitForIt(): Promise<void> {
  const errors = await Promise.all(NEED_IT.map(headers => errorOf(transcribe(headers))));
  for (const error of errors) {
    expect(error).toMatchObject({
      status: 503,
      code: 'storage_unavailable',
      type: 'server_error',
    });
    expect(error.headers.get('retry-after')).toMatch(/^([5-9]|10)$/);
    expect(error.headers.get('x-should-retry')).not.toBe('false');
  }
  expect((await transcribe()).status).toBe(200);
}

async function expectToGoOn(): Promise<void> {
  await until(async () => (await transcribe(NEED_IT[0])).status === 200);
  for (const headers of NEED_IT) expect((await transcribe(headers)).status).toBeLessThan(203);
}

describe('requests with an id, a key or respond-async', () => {
  it('are 503 storage_unavailable with Retry-After while PostgreSQL is killed; others go on; then all do', async () => {
    await postgres.kill();
    await expectToWaitForIt();
    await postgres.launch();
    await expectToGoOn();
  }, 60_000);

  it('are so, too, while PostgreSQL is stopped and answers nothing, instead of waiting for it', async () => {
    postgres.freeze();
    try {
      await expectToWaitForIt();
    } finally {
      postgres.thaw();
    }
    await expectToGoOn();
  }, 120_000);

  it('are so, too, while PostgreSQL takes no writes, as after a failover, and operators read why', async () => {
    const database = async (): Promise<unknown> => {
      const { data } = (await rig.json('/admin/v1/dependencies')) as {
        data: { name: string }[];
      };
      return data.find(({ name }) => name === 'database');
    };
    postgres.setReadOnly(true);
    try {
      await until(
        async () => (await errorOf(transcribe(NEED_IT[1]))).code === 'storage_unavailable',
      );
      await expectToWaitForIt();
      await until(async () => JSON.stringify(await database()).includes('read-only'));
      expect(await database()).toMatchObject({ status: 'down' });
    } finally {
      postgres.setReadOnly(false);
    }
    await expectToGoOn();
    await until(async () => JSON.stringify(await database()).includes('"up"'));
  }, 60_000);
});

describe('ids, names and filenames that PostgreSQL cannot store', () => {
  it('are 400 invalid_value on every route that takes one, never a 500', async () => {
    const paths = [
      'files/a%00b',
      'files/a%00b/content',
      'batches/a%00b',
      'requests/a%00b',
      'files?after=a%00b',
    ];
    const answers = paths.map(path => fetch(`${rig.url}/v1/${path}`));
    answers.push(fetch(`${rig.url}/v1/files/a%00b`, { method: 'DELETE' }));
    for (const path of ['batches/a%00b/cancel', 'uploads/a%00b/cancel', 'requests/a%00b/cancel'])
      answers.push(rig.post(`/v1/${path}`, {}));
    for (const id of ['a\0b', 'a\ud800b'])
      answers.push(
        rig.post('/v1/batches', {
          ...{
            input_file_id: id,
            endpoint: '/v1/chat/completions',
            completion_window: '24h',
          },
        }),
        rig.post('/v1/uploads', {
          bytes: 1,
          filename: id,
          mime_type: 'text/plain',
          purpose: 'batch',
        }),
      );
    for (const answer of answers) {
      const { status, code, type } = await errorOf(answer);
      expect([400, 404]).toContain(status);
      expect({ code, type }).not.toMatchObject({ code: 'internal_error' });
    }
  });
});

describe('a processor that is stopped amid a transaction', () => {
  it('loses it within seconds: another one claims its batch, and a cancel goes through', async () => {
    const jobs = rig.app.get(JobStore, { strict: false });
    const claims = rig.app.get(JobClaims, { strict: false });
    const job: BatchJob = {
      ...{
        id: 'batch_held',
        tenant: 'default',
        endpoint: '/v1/chat/completions',
        inputFileId: 'file-1',
      },
      ...{
        completionWindow: '24h',
        status: 'in_progress',
        createdAtMs: 1,
        expiresAtMs: Date.now() + 3_600_000,
      },
      ...{
        reachedAtMs: {},
        counts: { total: 0, completed: 0, failed: 0 },
        problems: [],
        metadata: {},
      },
    };
    await jobs.create(job);
    const loader = fileURLToPath(new URL('../../support/typescript-loader.mjs', import.meta.url));
    const program = fileURLToPath(new URL('../../support/transaction-holder.ts', import.meta.url));
    const args = ['--no-warnings', '--import', loader, program, postgres.url(), job.id];
    const holder = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(holder.stdout, 'data');
      holder.kill('SIGSTOP');
      await until(
        async () =>
          (await jobs.requestCancel('default', job.id, Date.now()).catch(() => undefined)) !==
          undefined,
      );
      expect(await claims.claim('other', 1000)).toMatchObject({
        job: { id: job.id, status: 'cancelling' },
      });
    } finally {
      holder.kill('SIGKILL');
    }
  }, 60_000);
});

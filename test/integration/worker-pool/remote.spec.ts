import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { type RemoteSpec } from '../../../src/platform/config/model-spec.js';
import { leftover } from '../../support/leftovers.js';
import { NodeProcess } from '../../support/node-process.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  transcribe,
  workerThat,
} from '../../support/pool-harness.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { TestCertificates } from '../../support/test-certificates.js';

/**
 * `node dist/main.worker.js …` by hand, as README "A worker elsewhere" says, and a pool
 * that reaches it.
 */
describe('a remote worker with TLS, client certificates and a token', () => {
  let folder: string;
  let worker: NodeProcess;
  let address: string;
  let certificates: TestCertificates;
  let gateway: Pick<NonNullable<RemoteSpec['tls']>, 'certFile' | 'keyFile'>;
  let pool: WorkerPoolService;

  const file = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = temporaryFolder();
    certificates = await TestCertificates.make(folder);
    const own = await certificates.sign('worker', 'DNS:gpu.test,IP:127.0.0.1');
    gateway = await certificates.sign('gateway', 'DNS:gateway.test');
    await writeFile(file('token'), 's3cret\n');
    await writeFile(file('other-token'), 's3cret2\n');
    const model = {
      id: 'm',
      kind: 'stt',
      engine: 'synthetic',
      capabilities: ['transcribe'],
    };
    await writeFile(file('models.yaml'), JSON.stringify({ models: [model] }));
    const args = [
      '--model',
      'm',
      '--listen',
      '127.0.0.1:0',
      '--device',
      'cuda:7',
      '--token-file',
      file('token'),
    ];
    const tls = [
      '--tls-cert',
      own.certFile,
      '--tls-key',
      own.keyFile,
      '--tls-client-ca',
      certificates.authority,
    ];
    worker = new NodeProcess({
      name: 'worker',
      script: resolve('dist/main.worker.js'),
      args: [...args, ...tls],
      env: { SWITCHYARD_WORKERS_MODELS_FILE: file('models.yaml') },
      folder,
    });
    leftover(() => worker[Symbol.asyncDispose]());
    const port = await worker.port();
    address = `127.0.0.1:${port}`;
  });

  afterEach(() => pool.close());

  afterAll(() => worker[Symbol.asyncDispose]());

  async function reach(remote: RemoteSpec | undefined, host?: string) {
    const named = host === undefined ? address : address.replace('127.0.0.1', host);
    pool = makePool({
      models: [modelSpec({ addresses: [named], ...(remote && { remote }) })],
      settings: { 'workers.health_failures': 1 },
      resolve: () => Promise.resolve(['127.0.0.1']),
    });
    await pool.start();
    return workerThat(pool, view => isReady(view) || view.problem !== undefined);
  }

  const trusted = () => ({ caFile: certificates.authority, ...gateway });

  it('takes calls of a gateway that has both, and tells its device', async () => {
    const { id, state, device } = await reach({
      tls: trusted(),
      tokenFile: file('token'),
    });
    expect([state, device]).toEqual(['ready', 'cuda:7']);
    const call = pool.execute({ workerId: id, request: transcribe(), group: alone });
    await expect(call.reply).resolves.toMatchObject({ kind: 'transcript' });
  });

  it('is known by the host name it was asked for, though the address came from DNS', async () => {
    expect((await reach({ tls: trusted(), tokenFile: file('token') }, 'gpu.test')).state).toBe(
      'ready',
    );
  });

  it('is known by another name when the configuration says so', async () => {
    const tls = { ...trusted(), serverName: 'gpu.test' };
    expect((await reach({ tls, tokenFile: file('token') }, 'pod-17')).state).toBe('ready');
  });

  it('is not trusted under a name that its certificate does not carry', async () => {
    const { state, problem } = await reach({ tls: trusted(), tokenFile: file('token') }, 'pod-17');
    expect([state, problem]).toEqual(['lost', expect.stringContaining('pod-17')]);
  });

  it.each([
    ['without a token', () => ({ tls: trusted() }), 'UNAUTHENTICATED'],
    [
      'with another token',
      () => ({ tls: trusted(), tokenFile: file('other-token') }),
      'UNAUTHENTICATED',
    ],
    [
      'without a client certificate',
      () => ({ tls: { caFile: certificates.authority }, tokenFile: file('token') }),
      'UNAVAILABLE',
    ],
    ['in clear', () => undefined, 'UNAVAILABLE'],
    [
      'that does not know its authority',
      () => ({ tls: { ...gateway }, tokenFile: file('token') }),
      'certificate',
    ],
  ])('refuses a gateway %s, and the operator reads why', async (_, remote, why) => {
    const { state, problem } = await reach(remote());
    expect([state, problem]).toEqual(['lost', expect.stringContaining(why)]);
    expect(pool.of('m')?.view()).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining(why),
    });
  });

  it('whose files vanished after boot is failed, and says so, until it is loaded again', async () => {
    pool = makePool({
      models: [modelSpec({ addresses: [address], remote: { tokenFile: file('nowhere') } })],
    });
    await pool.start();
    expect(pool.of('m')?.view()).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('nowhere'),
    });
    await writeFile(file('nowhere'), 's3cret');
    pool.of('m')?.load();
    expect(pool.of('m')?.view().state).toBe('loading');
  });
});

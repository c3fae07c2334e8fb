import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ReplicaSpec } from '../../../src/platform/config/model-spec.js';
import { type SettingOverrides } from '../../support/gateway-process.js';
import { Product } from '../../support/product.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { syntheticModel } from '../../support/synthetic-model.js';

const FILES = 6;
const STREAMS = 2;

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly pid?: number;
  readonly drained: boolean;
  readonly streams: number;
  readonly streams_in_use: number;
}

/** CPU numbers that a process may run on. */
async function coresOf(pid: number | 'self'): Promise<string> {
  return /^Cpus_allowed_list:\s*(.*)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]!;
}

const modelOf = (replicas: readonly ReplicaSpec[]) =>
  syntheticModel(
    { streams: STREAMS, baseMs: 20 },
    { capabilities: ['transcribe', 'stream'], replicas },
  );

describe.each(['embedded', 'redis'] as const)('replicas with a role, queue driver %s', driver => {
  let redis: RedisServer | undefined;
  let product: Product;
  let clients: RealtimeClient[] = [];

  beforeAll(async () => {
    if (driver === 'redis') redis = await RedisServer.start();
    const shared: SettingOverrides = redis ? { 'redis.url': redis.url } : {};
    const settings: SettingOverrides = {
      'queue.driver': driver,
      'workers.health_interval_ms': 100,
      ...shared,
    };
    product = await Product.start([modelOf([{ role: 'stream' }, { role: 'file' }])], settings);
    await takesFilesAgain('first');
  }, 90_000);
  afterEach(async () => {
    for (const client of clients) client.socket.close(1000);
    clients = [];
    await product.until('no stream is open', async () =>
      (await openStreams()).every(([, count]) => count === 0),
    );
  });
  afterAll(async () => {
    await product[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  });

  const shown = async (): Promise<readonly Shown[]> =>
    (await product.json<{ data: Shown[] }>('/admin/v1/workers')).data;
  const one = async (id: string): Promise<Shown | undefined> =>
    (await shown()).find(worker => worker.id === id);
  const openStreams = async (): Promise<[string, number][]> =>
    (await shown()).map(({ id, streams_in_use: count }) => [id, count]);
  const post = (path: string): Promise<Response> =>
    fetch(`${product.url}/admin/v1/${path}`, { method: 'POST' });
  const serving = async (id: string): Promise<boolean> =>
    ['ready', 'busy'].includes((await one(id))?.state ?? '');

  /** Workers that took files sent at the same time. */
  async function fileWorkers(name: string): Promise<string[]> {
    const ids = Array.from({ length: FILES }, (_, n) => `${driver}-${name}-${n}`);
    const answers = await Promise.all(ids.map(id => product.transcribe('hello', { id })));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
    const told = ids.map(id => product.json<{ worker?: string }>(`/admin/v1/requests/${id}`));
    // One that pulls has its host and process behind its name.
    return [
      ...new Set((await Promise.all(told)).map(({ worker = '' }) => worker.replace(/\..*/, ''))),
    ].sort();
  }

  /** A file is answered: whoever takes files is there. */
  async function takesFilesAgain(name: string): Promise<void> {
    let asked = 0;
    await product.until('a file is answered', async () => {
      const answer = await product.transcribe('hello', {
        id: `${driver}-${name}-again-${asked++}`,
      });
      return answer.status === 200;
    });
  }

  async function speaks(): Promise<RealtimeClient> {
    const client = await RealtimeClient.synthetic(product.url);
    clients.push(client);
    client.say('hello ');
    return client;
  }

  /** So many streams, each heard. */
  async function streams(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const client = await speaks();
      client.commit();
      await client.next(`${TRANSCRIPTION}.completed`);
    }
  }

  const refusal = async (): Promise<unknown> => (await (await speaks()).next('error')).error.code;

  it('sends streams to one and files to the other, however many of either there are', async () => {
    await streams(STREAMS);
    expect(await openStreams()).toEqual([
      ['synthetic-0', STREAMS],
      ['synthetic-1', 0],
    ]);
    expect(await fileWorkers('beside')).toEqual(['synthetic-1']);
    expect(await refusal()).toBe('queue_full');
    expect((await shown()).map(worker => worker.streams)).toEqual([STREAMS, 0]);
  }, 60_000);

  it('does so after both have been replaced', async () => {
    const before = (await shown()).map(({ pid }) => pid!);
    for (const pid of before) process.kill(pid, 'SIGKILL');
    await product.until('others are there', async () => {
      const now = await shown();
      return now.every(
        ({ pid, state }) => state === 'ready' && pid !== undefined && !before.includes(pid),
      );
    });
    await takesFilesAgain('replaced');
    await streams(STREAMS);
    expect((await openStreams())[1]).toEqual(['synthetic-1', 0]);
    expect(await fileWorkers('replaced')).toEqual(['synthetic-1']);
  }, 90_000);

  it('lets streams and files wait while the one for them is drained', async () => {
    expect((await post('workers/synthetic-0/drain')).status).toBe(200);
    await product.until('it is drained', async () => !(await serving('synthetic-0')));
    const client = await speaks();
    client.commit();
    expect(await fileWorkers('drained')).toEqual(['synthetic-1']);
    expect((await openStreams()).map(([, count]) => count)).toEqual([0, 0]);
    expect((await post('workers/synthetic-0/resume')).status).toBe(200);
    await client.next(`${TRANSCRIPTION}.completed`);
    expect((await openStreams())[1]).toEqual(['synthetic-1', 0]);

    await product.until(
      'it drains',
      async () => (await post('workers/synthetic-1/drain')).status === 200,
    );
    await product.until('it has seen it', async () => (await one('synthetic-1'))?.drained === true);
    const waits = product.transcribe('hello', { id: `${driver}-waits` });
    await product.until('it waits', async () => {
      const { state } = await product.json<{ state?: string }>(
        `/admin/v1/requests/${driver}-waits`,
      );
      return state === 'queued';
    });
    await streams(1);
    expect((await post('workers/synthetic-1/resume')).status).toBe(200);
    expect((await waits).status).toBe(200);
    expect(
      (await product.json<{ worker: string }>(`/admin/v1/requests/${driver}-waits`)).worker,
    ).toMatch(/^synthetic-1/);
  }, 90_000);

  it('does so with more of each, on the cores that they are given', async () => {
    const [core] = (await coresOf('self')).split(/[,-]/);
    const replicas = (['stream', 'file', 'file', 'stream'] as const).map(role => ({
      role,
      cores: core!,
    }));
    await writeFile(
      join(product.folder, 'models.yaml'),
      JSON.stringify({ models: [modelOf(replicas)] }),
    );
    expect((await post('models/reload')).status).toBe(200);
    await product.until('four are there', async () => {
      const all = await shown();
      return all.length === 4 && all.every(({ state }) => state === 'ready');
    });
    expect(await Promise.all((await shown()).map(({ pid }) => coresOf(pid!)))).toEqual(
      replicas.map(() => core),
    );
    await takesFilesAgain('scaled');
    await streams(2 * STREAMS);
    expect(await openStreams()).toEqual([
      ['synthetic-0', STREAMS],
      ['synthetic-1', 0],
      ['synthetic-2', 0],
      ['synthetic-3', STREAMS],
    ]);
    for (const worker of await fileWorkers('scaled'))
      expect(['synthetic-1', 'synthetic-2']).toContain(worker);
    expect(await refusal()).toBe('queue_full');
  }, 90_000);
});

import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { environmentName } from '../../src/platform/config/settings.js';
import { formOf } from '../support/form-of.js';
import { GatewayProcess, type SettingOverrides } from '../support/gateway-process.js';
import { NodeProcess } from '../support/node-process.js';
import { Product } from '../support/product.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith, REDIS } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';

const BUSY = { baseMs: 1000, maxBatch: 4 };
const models = [
  syntheticModel(BUSY),
  syntheticModel(BUSY, {
    id: 'voice',
    kind: 'tts',
    capabilities: ['speech'],
    voices: { alloy: 'synthetic' },
  }),
  syntheticModel(
    { ...BUSY, dimensions: 4 },
    { id: 'vectors', kind: 'embedding', capabilities: ['embeddings'] },
  ),
];

/** Each test starts processes and waits for their successors. */
const LIMIT_MS = 120_000;

describeWith(REDIS)('kill -9 of a worker that pulls', () => {
  let redis: RedisServer;
  let product: Product;
  beforeAll(async () => {
    redis = await RedisServer.start();
    product = await Product.start(models, settings());
  }, LIMIT_MS);
  afterAll(async () => {
    await product[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
  });

  const settings = ({ url } = redis): SettingOverrides => ({
    'queue.driver': 'redis',
    'redis.url': url,
  });

  const running = async () =>
    (await product.json<{ data: { worker: string }[] }>('/admin/v1/requests?state=running')).data;

  const post = (url: string, path: string, body: object): Promise<Response> =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it.each([
    ['one file', 1, () => product.transcribe('alone')],
    ['a group of 4', 4, (n: number) => product.transcribe(`member ${n}`)],
    [
      'speech',
      1,
      () =>
        post(product.url, '/v1/audio/speech', {
          model: 'voice',
          input: 'Yes.',
          voice: 'alloy',
          response_format: 'wav',
        }),
    ],
    [
      'an embedding',
      1,
      () => post(product.url, '/v1/embeddings', { model: 'vectors', input: 'x' }),
    ],
  ])(
    'with default settings costs %s a retry, not its answer: 200 after a second attempt',
    async (_, count, send) => {
      // An answer has been heard a moment before its request has ended.
      await product.until('none runs', async () => (await running()).length === 0);
      const answers = Array.from({ length: count }, (_unused, n) => send(n));
      let taken: readonly { worker: string }[] = [];
      await product.until('all run', async () => {
        taken = await running();
        return taken.length === count;
      });
      const victim = (await product.workers()).find(({ id }) => id === taken[0]!.worker);
      process.kill(victim!.pid!, 'SIGKILL');
      const settled = await Promise.all(answers);
      const summaries = await Promise.all(
        settled.map(async ({ status, headers }) => {
          // Speech has no such header: it is sent while it is made.
          const { attempts } = await product.json<{ attempts: number }>(
            `/v1/requests/${headers.get('x-request-id')}`,
          );
          return [status, Number(headers.get('x-switchyard-attempts') ?? attempts)];
        }),
      );
      expect(summaries).toEqual(Array(count).fill([200, 2]));
    },
    LIMIT_MS,
  );

  it(
    'on another host frees its jobs as soon as its heartbeat is missed, 5 minutes before its locks would expire',
    async () => {
      const folder = temporaryFolder();
      await using own = await RedisServer.start();
      const model = { ...syntheticModel(BUSY), replicas: 0 };
      // The lock must not be what ends the wait.
      const patient = {
        ...settings(own),
        'redis.lock_ms': 300_000,
        'inference.timeout_min_ms': 600_000,
      };
      await using gateway = await GatewayProcess.start([model], patient, {
        folder,
        until: 'live',
      });
      const remote = (name: string): NodeProcess =>
        new NodeProcess({
          ...{ name, folder, script: resolve('dist/main.worker.js') },
          args: [
            '--model',
            'synthetic',
            '--source',
            'pull',
            '--listen',
            '127.0.0.1:0',
            '--id',
            name,
          ],
          env: Object.fromEntries(
            Object.entries({
              ...patient,
              'workers.models_file': join(folder, 'models.yaml'),
              'data.dir': join(folder, 'data'),
            }).map(([path, value]) => [
              environmentName(path as keyof SettingOverrides),
              String(value),
            ]),
          ),
        });
      await using first = remote('first');
      await first.message('ready');
      const form = formOf({ model: 'synthetic' }, 'alone', 'clip.wav');
      const answer = fetch(`http://127.0.0.1:${gateway.port}/v1/audio/transcriptions`, {
        method: 'POST',
        body: form,
      });
      const running = async (): Promise<boolean> =>
        (await gateway.call('GET', '/admin/v1/requests?state=running')).body.includes('"first');
      while (!(await running())) await pause(20);
      first.child.kill('SIGKILL');
      await using second = remote('second');
      await second.message('ready');
      const { status, headers } = await answer;
      expect([status, headers.get('x-switchyard-attempts')]).toEqual([200, '2']);
    },
    LIMIT_MS,
  );
});

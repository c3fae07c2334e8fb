import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RequestQueues } from '../../../src/gateway/queue/request-queues.js';
import { builtWorkerLaunch } from '../../../src/gateway/worker-pool/worker-roster.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { freePort } from '../../support/free-port.js';
import { leftover } from '../../support/leftovers.js';
import { NodeProcess } from '../../support/node-process.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { workerThat } from '../../support/pool-harness.js';
import { RedisServer } from '../../support/redis-server.js';
import { itWith, REDIS } from '../../support/requires.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { errorOf, expectError, GatewayRig, builtLaunch, until } from '../api/gateway-rig.js';
import { upstreamEmbedding, upstreamLlm } from '../generation/generation-rig.js';

const MODEL = 'upstream-llm';
const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'one two' }] };
const VECTORS = { model: 'upstream-vectors', input: 'one' };
const CALLERS = 20;
const each = <T>(send: () => T): T[] => Array.from({ length: CALLERS }, send);

let port: number;
let upstream: OpenAiUpstream;
let rig: GatewayRig | undefined;

const upstreamUp = () =>
  OpenAiUpstream.start({ models: ['its/own-name', 'its/own-vectors'], port });
beforeEach(async () => {
  port = await freePort();
  upstream = await upstreamUp();
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  await upstream[Symbol.asyncDispose]();
});

async function started(model: ModelSpec, settings = {}): Promise<GatewayRig> {
  const { environment } = builtWorkerLaunch(settingsFrom(settings));
  rig = await GatewayRig.start({
    models: [model],
    launch: { ...builtLaunch, environment },
    settings,
  });
  await rig.ready(model.id);
  return rig;
}

const leaves = () => upstream[Symbol.asyncDispose]();
const returns = async () => void (upstream = await upstreamUp());
const waiting = async () =>
  (await rig!.app.get(RequestQueues, { strict: false }).depths()).reduce(
    (sum, { realtime, batch }) => sum + realtime + batch,
    0,
  );

describe('an upstream that cannot be reached (D-40)', () => {
  async function allWait(
    model: ModelSpec,
    path: string,
    body: object,
    settings = {},
  ): Promise<void> {
    const { pool } = await started(model, settings);
    await leaves();
    const answers = each(() => rig!.post(path, body));
    const { problem } = await workerThat(pool, ({ state }) => state === 'starting');
    expect(problem).toContain('cannot be reached');
    await until(async () => (await waiting()) === CALLERS);
    await returns();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(each(() => 200));
    expect((await rig!.ready(model.id)).problem).toBeUndefined();
  }

  it('makes its worker not ready and 20 of 20 requests wait for it, in the gateway process', () =>
    allWait(upstreamLlm(upstream), '/v1/chat/completions', CHAT));

  it('makes its worker not ready and 20 of 20 requests wait for it, in a worker process', () =>
    allWait(upstreamEmbedding(upstream), '/v1/embeddings', VECTORS));

  itWith(REDIS)(
    'makes its worker not ready and 20 of 20 requests wait for it, in a pull worker',
    async () => {
      await using redis = await RedisServer.start();
      const settings = { 'queue.driver': 'redis', 'redis.url': redis.url };
      await allWait(upstreamEmbedding(upstream), '/v1/embeddings', VECTORS, settings);
      await rig!.close();
      rig = undefined;
    },
  );

  it('ends what still waits at its own deadline: 503 upstream_unavailable, to be retried later', async () => {
    await started(upstreamLlm(upstream), { 'queue.timeout_ms': 300 });
    await leaves();
    const { status, code, message, headers } = await errorOf(
      rig!.post('/v1/chat/completions', CHAT),
    );
    expect([status, code, headers.get('x-should-retry')]).toEqual([
      503,
      'upstream_unavailable',
      'true',
    ]);
    expect(message).toBe(`The upstream of ${MODEL} cannot be reached; waited 300 ms for it.`);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is waited for from the start, also when its name is unknown', async () => {
    const unknown = {
      ...upstreamLlm(upstream, { baseUrl: 'http://upstream.invalid/v1' }),
    };
    rig = await GatewayRig.start({
      models: [unknown],
      launch: builtLaunch,
      settings: { 'queue.timeout_ms': 300 },
    });
    const { problem } = await workerThat(rig.pool, worker => worker.problem !== undefined);
    expect(problem).toBe('its upstream cannot be reached');
    await expectError(rig.post('/v1/chat/completions', CHAT), {
      code: 'upstream_unavailable',
    });
  });

  it('costs no request that it cut before the first byte, and is given none 6 times', async () => {
    await started(upstreamLlm(upstream, { maxConcurrent: 1 }));
    const cut = { kind: 'cut', after: 'request' } as const;
    // A kept connection may be stale, so the first of these is sent again at once.
    upstream.script(cut, cut, cut);
    expect((await rig!.post('/v1/chat/completions', CHAT)).status).toBe(200);
    expect(upstream.posts).toHaveLength(4);
    upstream.script(...Array.from({ length: 10 }, () => cut));
    await expectError(rig!.post('/v1/chat/completions', CHAT), {
      status: 503,
      code: 'worker_lost',
    });
    expect(upstream.posts.length).toBeLessThanOrEqual(4 + 6);
  });
});

describe('two upstreams of one model', () => {
  it('one of which leaves: 20 of 20 callers notice nothing', async () => {
    const folder = temporaryFolder();
    await using other = await OpenAiUpstream.start({ models: ['its/own-name'] });
    const addresses: string[] = [];
    for (const { baseUrl } of [upstream, other]) {
      const address = `127.0.0.1:${await freePort()}`;
      addresses.push(address);
      const options = { baseUrl, model: 'its/own-name' };
      const worker = new NodeProcess({
        name: address,
        script: resolve('src/main.worker.ts'),
        flags: ['--no-warnings', '--import', resolve('test/support/typescript-loader.mjs')],
        args: [
          ...['--model', MODEL, '--engine', 'openai-http', '--kind', 'llm', '--listen', address],
          ...Object.entries(options).flatMap(([name, value]) => ['--option', `${name}=${value}`]),
        ],
        folder,
      });
      leftover(() => worker[Symbol.asyncDispose]());
    }
    const { pool } = await started({
      ...upstreamLlm(upstream),
      replicas: 0,
      addresses,
      options: {},
    });
    await until(() => pool.workers().every(({ state }) => state === 'ready'));
    await leaves();
    // Chats that begin alike prefer one worker, perhaps the one whose upstream is there: then
    // nobody asks the other, and nobody learns that it is away.
    const chatOf = (caller: number) => ({
      ...CHAT,
      messages: [{ role: 'user', content: `${caller}` }],
    });
    const answers = await Promise.all(
      Array.from({ length: CALLERS }, (_, caller) =>
        rig!.post('/v1/chat/completions', chatOf(caller)),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(each(() => 200));
    await workerThat(pool, ({ state }) => state === 'starting');
    await returns();
    await until(() => pool.workers().every(({ state }) => state === 'ready'));
  });
});

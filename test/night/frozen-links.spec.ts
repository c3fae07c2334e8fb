import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../src/platform/config/settings.js';
import {
  pulledWork,
  WORKER_SPEC_VARIABLE,
  workerSpec,
} from '../../src/platform/config/worker-spec.js';
import { HalfOpenLink } from '../chaos/seeded/half-open-link.js';
import { freePort } from '../support/free-port.js';
import { GatewayProcess, type SettingOverrides } from '../support/gateway-process.js';
import { HostedWorkers } from '../support/hosted-worker.js';
import { NodeProcess } from '../support/node-process.js';
import { PostgresServer } from '../support/postgres-server.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith, POSTGRES, REDIS } from '../support/requires.js';
import { stt } from '../support/scheduler-harness.js';
import { ScriptedPuller } from '../support/scripted-puller.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause, until } from '../support/waiting.js';

/** `LINK_FREEZES=30,90` for the long ones; seconds. */
const SECONDS = (process.env.LINK_FREEZES ?? '12').split(',').map(Number);
const LIMIT_MS = 300_000;
/** What is not right again by then has to be found by TCP, which takes minutes. */
const FOUND_MS = 30_000;

async function linkTo(port: number) {
  const link = new HalfOpenLink(port);
  const near = await freePort();
  await link.listen(near);
  return { link, near };
}

interface Rig extends AsyncDisposable {
  readonly link: HalfOpenLink;
  readonly gateway: GatewayProcess;
  /** The status of a request that needs the link. */
  ask(): Promise<number>;
}

const url = (gateway: GatewayProcess, path: string) => `http://127.0.0.1:${gateway.port}${path}`;

async function transcribe(gateway: GatewayProcess, model: string): Promise<number> {
  const form = new FormData();
  form.set('model', model);
  form.set('file', new Blob(['clip']), 'a.wav');
  const answer = await fetch(url(gateway, '/v1/audio/transcriptions'), {
    method: 'POST',
    body: form,
    signal: AbortSignal.timeout(FOUND_MS),
  });
  await answer.arrayBuffer();
  return answer.status;
}

async function list(gateway: GatewayProcess): Promise<number> {
  const answer = await fetch(url(gateway, '/v1/files'), { signal: AbortSignal.timeout(FOUND_MS) });
  await answer.arrayBuffer();
  return answer.status;
}

const start = (models: readonly ModelSpec[], settings: SettingOverrides) =>
  GatewayProcess.start(models, settings, { folder: temporaryFolder() });

async function behindRedis(): Promise<Rig> {
  const server = await RedisServer.start();
  const { link, near } = await linkTo(server.port);
  const puller = await ScriptedPuller.start({ url: server.url, model: 'alpha' });
  const gateway = await start([{ ...stt('alpha'), addresses: [] }], {
    ...{ 'queue.driver': 'redis', 'redis.url': `redis://127.0.0.1:${near}` },
    'requests.idempotency': 'off',
  });
  let open = true;
  const serve = async (): Promise<void> => {
    while (open) await (await puller.take()).complete().catch(() => undefined);
  };
  void serve();
  return {
    ...{ link, gateway, ask: () => transcribe(gateway, 'alpha') },
    async [Symbol.asyncDispose]() {
      open = false;
      await transcribe(gateway, 'alpha').catch(() => undefined);
      await gateway[Symbol.asyncDispose]();
      await puller[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function behindPostgres(): Promise<Rig> {
  const server = await PostgresServer.start();
  const { link, near } = await linkTo(server.port);
  const gateway = await start([syntheticModel({})], {
    'database.url': server.url().replace(`:${server.port}`, `:${near}`),
  });
  return {
    ...{ link, gateway, ask: () => list(gateway) },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function beforeWorker(): Promise<Rig> {
  const hosted = await HostedWorkers.start([syntheticModel({})], settingsFrom({}));
  const [model] = hosted.models;
  const { link, near } = await linkTo(Number(model!.addresses[0]!.split(':')[1]));
  const gateway = await start([{ ...model!, addresses: [`127.0.0.1:${near}`] }], {});
  return {
    ...{ link, gateway, ask: () => transcribe(gateway, 'synthetic') },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
      await hosted[Symbol.asyncDispose]();
    },
  };
}

/** The gateway reaches Redis as ever. */
async function behindPuller(): Promise<Rig> {
  const server = await RedisServer.start();
  const { link, near } = await linkTo(server.port);
  const folder = temporaryFolder();
  const model = syntheticModel({});
  const shared = { 'queue.driver': 'redis', 'data.dir': join(folder, 'data') } as const;
  const settings = settingsFrom({ ...shared, 'redis.url': `redis://127.0.0.1:${near}` });
  const spec = workerSpec({ workerId: 'pulls', model, host: '127.0.0.1', port: 0 }, settings);
  const worker = new NodeProcess({
    ...{ name: 'pulls', script: resolve('dist/main.worker.js'), folder },
    env: { [WORKER_SPEC_VARIABLE]: JSON.stringify({ ...spec, ...pulledWork(model, settings) }) },
  });
  await worker.message('ready');
  const gateway = await GatewayProcess.start(
    [{ ...model, replicas: 0 }],
    { ...shared, 'redis.url': server.url, 'requests.idempotency': 'off' },
    { folder },
  );
  return {
    ...{ link, gateway, ask: () => transcribe(gateway, 'synthetic') },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await worker[Symbol.asyncDispose]();
      await link[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const LINKS = [
  ['a gateway and Redis', behindRedis],
  ['a gateway and PostgreSQL', behindPostgres],
  ['a gateway and a worker', beforeWorker],
  ['a worker and Redis', behindPuller],
] as const;
const WAYS = [['there', 'back'], ['there'], ['back']] as const;
const CASES = SECONDS.flatMap(seconds =>
  WAYS.map(way => [way.join(' and '), seconds, way] as const),
);

describeWith(REDIS, POSTGRES)('a frozen link', () => {
  describe.each(LINKS)('between %s', (name, open) => {
    let rig: Rig;
    beforeAll(async () => void (rig = await open()), LIMIT_MS);
    afterAll(async () => rig[Symbol.asyncDispose](), LIMIT_MS);

    const status = async (): Promise<string> => {
      const reply = await rig.gateway.call('GET', '/health');
      return (JSON.parse(reply.body.toString()) as { status: string }).status;
    };
    const becomes = (wanted: (now: string) => boolean) =>
      until(async () => pause(50).then(async () => wanted(await status())), FOUND_MS);
    const works = () =>
      until(async () => {
        const answered = await rig.ask().catch(() => 0);
        if (answered !== 200) await pause(50);
        return answered === 200;
      }, FOUND_MS);

    const report = (what: string, sinceMs: number) =>
      process.env.LINK_FREEZES &&
      process.stdout.write(`${name}: ${what} ${Math.round(performance.now() - sinceMs)} ms\n`);

    it.each(CASES)(
      '%s for %d s is told, and requests go on',
      async (_, seconds, way) => {
        expect(await works()).toBe(true);
        for (const end of ['thaw', 'letOthersPass'] as const) {
          const frozenAtMs = performance.now();
          rig.link.freeze(...way);
          expect(await becomes(now => now !== 'ok')).toBe(true);
          report('told after', frozenAtMs);
          await pause(Math.max(0, seconds * 1000 - (performance.now() - frozenAtMs)));
          const endedAtMs = performance.now();
          rig.link[end]();
          expect(await works()).toBe(true);
          report(`${end}: a request after`, endedAtMs);
          expect(await becomes(now => now === 'ok')).toBe(true);
          report(`${end}: ok after`, endedAtMs);
        }
      },
      LIMIT_MS,
    );
  });
});

import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../src/platform/config/settings.js';
import {
  pulledWork,
  WORKER_SPEC_VARIABLE,
  workerSpec,
} from '../../src/platform/config/worker-spec.js';
import { formOf } from '../support/form-of.js';
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
import { HalfOpenLink } from './seeded/half-open-link.js';

/** `CHAOS_LINKS=30,90` for the long ones, which then tell what they saw; seconds. */
const SECONDS = (process.env.CHAOS_LINKS ?? '5').split(',').map(Number);
const LIMIT_MS = 600_000;
/** What is not right again by then has to be found by TCP, which takes minutes. */
const FOUND_MS = 30_000;
/** A silence that is longer is found while it lasts. */
const SILENT_S = 11;

/** A gateway, one of whose links can be frozen. */
interface Rig extends AsyncDisposable {
  readonly link: HalfOpenLink;
  readonly gateway: GatewayProcess;
  /** The status of a request that needs the link. */
  ask(): Promise<number>;
}

const url = (gateway: GatewayProcess, path: string) => `http://127.0.0.1:${gateway.port}${path}`;

async function transcribe(gateway: GatewayProcess, model: string): Promise<number> {
  const form = formOf({ model }, 'clip');
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

/** Of a rig; they end in the reverse order. */
class Parts extends AsyncDisposableStack {
  /** A port before another one, whose link can be frozen. */
  async linkTo(port: number) {
    const link = this.use(new HalfOpenLink(port));
    const near = await freePort();
    await link.listen(near);
    return { link, near };
  }

  async gateway(models: readonly ModelSpec[], settings: SettingOverrides) {
    const folder = temporaryFolder();
    return this.use(await GatewayProcess.start(models, settings, { folder }));
  }

  rig(link: HalfOpenLink, gateway: GatewayProcess, ask: () => Promise<number>): Rig {
    return { link, gateway, ask, [Symbol.asyncDispose]: () => this.disposeAsync() };
  }
}

async function behindRedis(): Promise<Rig> {
  const parts = new Parts();
  const server = parts.use(await RedisServer.start());
  const { link, near } = await parts.linkTo(server.port);
  const puller = parts.use(await ScriptedPuller.start({ url: server.url, model: 'alpha' }));
  const gateway = await parts.gateway([{ ...stt('alpha'), addresses: [] }], {
    ...{ 'queue.driver': 'redis', 'redis.url': `redis://127.0.0.1:${near}` },
    'requests.idempotency': 'off',
  });
  const ask = () => transcribe(gateway, 'alpha');
  let open = true;
  const serve = async (): Promise<void> => {
    while (open) await (await puller.take()).complete().catch(() => undefined);
  };
  void serve();
  parts.defer(async () => {
    open = false;
    await ask().catch(() => undefined);
  });
  return parts.rig(link, gateway, ask);
}

async function behindPostgres(): Promise<Rig> {
  const parts = new Parts();
  const server = parts.use(await PostgresServer.start());
  const { link, near } = await parts.linkTo(server.port);
  const gateway = await parts.gateway([syntheticModel({})], {
    'database.url': server.url().replace(`:${server.port}`, `:${near}`),
  });
  return parts.rig(link, gateway, () => list(gateway));
}

async function beforeWorker(): Promise<Rig> {
  const parts = new Parts();
  const hosted = parts.use(await HostedWorkers.start([syntheticModel({})], settingsFrom({})));
  const [model] = hosted.models;
  const { link, near } = await parts.linkTo(Number(model!.addresses[0]!.split(':')[1]));
  const gateway = await parts.gateway([{ ...model!, addresses: [`127.0.0.1:${near}`] }], {});
  return parts.rig(link, gateway, () => transcribe(gateway, 'synthetic'));
}

/** The gateway reaches Redis as ever. */
async function behindPuller(): Promise<Rig> {
  const parts = new Parts();
  const server = parts.use(await RedisServer.start());
  const { link, near } = await parts.linkTo(server.port);
  const folder = temporaryFolder();
  const model = syntheticModel({});
  const shared = { 'queue.driver': 'redis', 'data.dir': join(folder, 'data') } as const;
  const settings = settingsFrom({ ...shared, 'redis.url': `redis://127.0.0.1:${near}` });
  const spec = workerSpec({ workerId: 'pulls', model, host: '127.0.0.1', port: 0 }, settings);
  const env = {
    [WORKER_SPEC_VARIABLE]: JSON.stringify({ ...spec, ...pulledWork(model, settings) }),
  };
  const script = resolve('dist/main.worker.js');
  const worker = parts.use(new NodeProcess({ name: 'pulls', script, folder, env }));
  await worker.message('ready');
  const gateway = parts.use(
    await GatewayProcess.start(
      [{ ...model, replicas: 0 }],
      { ...shared, 'redis.url': server.url, 'requests.idempotency': 'off' },
      { folder },
    ),
  );
  return parts.rig(link, gateway, () => transcribe(gateway, 'synthetic'));
}

const LINKS = {
  'a gateway and Redis': behindRedis,
  'a gateway and PostgreSQL': behindPostgres,
  'a gateway and a worker': beforeWorker,
  'a worker and Redis': behindPuller,
};
type LinkName = keyof typeof LINKS;
const NAMES = Object.keys(LINKS) as LinkName[];
const WAYS = [['there', 'back'], ['there'], ['back']] as const;
/** What waited arrives; or it never does, and new connections work. */
const ENDS = ['thaw', 'letOthersPass'] as const;

interface Freeze {
  readonly way: (typeof WAYS)[number];
  readonly seconds: number;
  readonly end: (typeof ENDS)[number];
}

/** What was seen: 'goes on', or what is missing. */
class FrozenLink {
  #frozenAtMs = 0;
  #toldAfterMs = NaN;

  constructor(
    readonly name: LinkName,
    private readonly rig: Rig,
  ) {}

  async undergo(freeze: Freeze): Promise<string> {
    if (!(await this.#works())) return 'does not work';
    const { way, seconds, end } = freeze;
    const { link, ask } = this.rig;
    link.freeze(...way);
    this.#frozenAtMs = performance.now();
    const meanwhile = ask().catch(() => 0);
    await Promise.all([this.#told(seconds * 1000), pause(seconds * 1000)]);
    link[end]();
    const endedAtMs = performance.now();
    const after = (): number => Math.round(performance.now() - endedAtMs);
    if (seconds > SILENT_S && Number.isNaN(this.#toldAfterMs)) return 'is not told';
    if (!(await this.#works())) return 'stays away';
    const workedMs = after();
    if (!(await this.#becomes('ok', FOUND_MS))) return 'is never ok again';
    const seen = { meanwhile: await meanwhile, toldAfterMs: this.#toldAfterMs, workedMs };
    if (process.env.CHAOS_LINKS)
      process.stderr.write(
        `${JSON.stringify({ link: this.name, ...freeze, ...seen, okMs: after() })}\n`,
      );
    return 'goes on';
  }

  /** Notes when its gateway says that something is away. */
  async #told(withinMs: number): Promise<void> {
    const isTold = await this.#becomes('degraded', withinMs);
    this.#toldAfterMs = isTold ? Math.round(performance.now() - this.#frozenAtMs) : NaN;
  }

  #becomes(wanted: 'ok' | 'degraded', withinMs: number): Promise<boolean> {
    return hasHeld(async () => {
      const reply = await this.rig.gateway.call('GET', '/health');
      const { status } = JSON.parse(reply.body.toString()) as { status: string };
      return (status === 'ok') === (wanted === 'ok');
    }, withinMs);
  }

  #works(): Promise<boolean> {
    return hasHeld(async () => (await this.rig.ask().catch(() => 0)) === 200, FOUND_MS);
  }
}

const hasHeld = (holds: () => Promise<boolean>, limitMs: number): Promise<boolean> =>
  until(holds, { limitMs, everyMs: 100 }).then(
    () => true,
    () => false,
  );

describeWith(REDIS, POSTGRES)('links that stay open and say nothing', () => {
  const links: FrozenLink[] = [];
  const rigs: Rig[] = [];
  beforeAll(async () => {
    for (const name of NAMES) {
      const rig = await LINKS[name]();
      rigs.push(rig);
      links.push(new FrozenLink(name, rig));
    }
  }, LIMIT_MS);
  afterAll(async () => {
    for (const rig of rigs) await rig[Symbol.asyncDispose]();
  }, LIMIT_MS);

  describe.each(SECONDS)('for %d s', seconds => {
    const cases = WAYS.flatMap(way => ENDS.map(end => [way.join(' and '), end, way] as const));
    it.each(cases)(
      '%s, then %s: it is told, and requests go on',
      async (_, end, way) => {
        const outcomes = await Promise.all(links.map(link => link.undergo({ way, seconds, end })));
        expect(Object.fromEntries(NAMES.map((name, at) => [name, outcomes[at]]))).toEqual(
          Object.fromEntries(NAMES.map(name => [name, 'goes on'])),
        );
      },
      LIMIT_MS,
    );
  });
});

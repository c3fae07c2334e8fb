import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { RedisOrder } from '@switchyard/shared-queue/order/redis-order.js';
import { encodeJobError } from '@switchyard/shared-queue/result.codec.js';
import { type Redis } from 'ioredis';
import { DomainError } from '../../../src/core/errors/domain-error.js';
import { inferenceTimeout } from '../../../src/core/request/device-progress.js';
import {
  type RequestSpec,
  type SettledRequest,
} from '../../../src/gateway/registry/submitted-request.js';
import { TextPlaces } from '../../../src/gateway/shared-queue/text-places.js';
import { type SettingValue } from '../../../src/platform/config/setting-definition.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { SchedulerHarness } from '../../support/scheduler-harness.js';
import { type HeldJob, ScriptedPuller } from '../../support/scripted-puller.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';

/** `text`: of several gateways, which share its order in Redis. */
export type Driver = 'embedded' | 'redis' | 'text';
/** What the scheduler's harness calls its keys by. */
const KEYS = new QueueKeys('switchyard');
type Overrides = Partial<Record<SettingPath, SettingValue>>;

/** One request in the hands of a worker that takes one at a time. */
export interface Taken {
  readonly id: string;
  answer(): Promise<void>;
  /** Its device computes it for longer than it may. */
  overrun(): Promise<void>;
  /** The worker was told to stop it. */
  toldToStop(): Promise<boolean>;
}

export interface Submitted {
  readonly settled: Promise<SettledRequest>[];
}

/**
 * The scheduler over one kind of queue; the test plays the workers, one of each model.
 */
export abstract class QueueHarness {
  protected constructor(readonly harness: SchedulerHarness) {}

  static start(driver: Driver, settings: Overrides = {}): Promise<QueueHarness> {
    const common: Overrides = { 'batching.policy': 'none', ...settings };
    if (driver === 'text') return TextHarness.open(common);
    return driver === 'embedded' ? EmbeddedHarness.open(common) : RedisHarness.open(common);
  }

  get scheduler() {
    return this.harness.scheduler;
  }

  get cancellations() {
    return this.harness.cancellations;
  }

  get queues() {
    return this.harness.queues;
  }

  /** Refusals, whenever they come, are failed settlements. */
  async submit(id: string, spec: Partial<RequestSpec> = {}): Promise<SettledRequest> {
    try {
      return await this.harness.submit(id, spec);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { settlement: { status: 'failed', error }, phases: {}, attempts: 0 };
    }
  }

  /** Submits in order, each once the one before is in the queue. */
  async submitInLine(ids: readonly string[], spec: Partial<RequestSpec> = {}): Promise<Submitted> {
    const settled: Promise<SettledRequest>[] = [];
    for (const id of ids) {
      settled.push(this.submit(id, spec));
      await this.accepted(id, spec.tenant);
    }
    return { settled };
  }

  async accepted(id: string, _tenant?: string): Promise<void> {
    await this.until(`${id} is accepted`, () => this.harness.types(id).includes('accepted'));
  }

  /** Answers one after the other as they come. Resolves with their ids. */
  async serve(count: number, model = 'alpha'): Promise<string[]> {
    const order: string[] = [];
    for (let n = 0; n < count; n++) {
      const taken = await this.take(model);
      order.push(taken.id);
      await taken.answer();
    }
    return order;
  }

  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    return until(holds, { what, limitMs: 30_000, everyMs: 2 });
  }

  /** A worker of the model is there from now on. */
  abstract open(model?: string): Promise<void>;
  /** The next request for the model. */
  abstract take(model?: string): Promise<Taken>;
  /** All that waits now has waited that much longer. */
  abstract age(ms: number): Promise<void>;
  abstract stop(): Promise<void>;
}

class EmbeddedHarness extends QueueHarness {
  readonly #taken = new Map<string, number>();

  static async open(settings: Overrides): Promise<QueueHarness> {
    return new EmbeddedHarness(await SchedulerHarness.start({ settings }));
  }

  open(model = 'alpha'): Promise<void> {
    if (this.#taken.has(model)) return Promise.resolve();
    this.#taken.set(model, 0);
    this.harness.pool.addWorker(`w-${model}`, model, { slots: 1, maxBatch: 1, overdraft: 0 });
    this.harness.pool.poke(model);
    return Promise.resolve();
  }

  async take(model = 'alpha'): Promise<Taken> {
    await this.open(model);
    const nth = this.#taken.get(model) ?? 0;
    this.#taken.set(model, nth + 1);
    const calls = () => this.harness.pool.calls.filter(({ request }) => request.model === model);
    await this.until(`call ${nth + 1} of ${model}`, () => calls().length > nth);
    const call = calls()[nth]!;
    return {
      id: call.id,
      answer: async () => {
        call.answer();
        await this.harness.settle();
      },
      // Its gateway asks the worker, which does not know it any more.
      overrun: async () => {
        await this.until('cancel', () =>
          this.harness.pool.cancels.some(({ reason }) => reason === 'deadline'),
        );
        call.letGo();
      },
      toldToStop: async () => {
        await this.until('cancel', () =>
          this.harness.pool.cancels.some(({ requestId }) => requestId === call.id),
        );
        call.letGo();
        return true;
      },
    };
  }

  async age(ms: number): Promise<void> {
    this.harness.clock.advance(ms);
    await this.harness.settle();
  }

  stop(): Promise<void> {
    return this.harness.stop();
  }
}

class RedisHarness extends QueueHarness {
  readonly #pullers = new Map<string, ScriptedPuller>();

  private constructor(
    harness: SchedulerHarness,
    private readonly server: RedisServer,
    private readonly folder: string,
    private readonly client: Redis,
    private readonly agingShare: number,
  ) {
    super(harness);
  }

  static async open(settings: Overrides): Promise<QueueHarness> {
    const server = await RedisServer.start();
    const folder = temporaryFolder();
    const scheduler = await SchedulerHarness.start({
      settings: {
        'queue.driver': 'redis',
        'redis.url': server.url,
        'data.dir': folder,
        ...settings,
      },
    });
    const client = redisClient(server.url);
    const agingShare = Number(settings['queue.aging_share'] ?? 0.25);
    const harness = new RedisHarness(scheduler, server, folder, client, agingShare);
    await harness.until('Redis is usable', () => harness.usable);
    return harness;
  }

  get usable(): boolean {
    return this.harness.redisUsable;
  }

  /** Accepted here comes before queued there. */
  override async accepted(id: string, tenant?: string): Promise<void> {
    await super.accepted(id);
    await this.until(`${id} is in Redis`, async () => {
      const { model } = this.harness.of('accepted').find(({ requestId }) => requestId === id)!;
      return (
        (await this.client.exists(`switchyard:${KEYS.queue(model)}:${KEYS.job(id, tenant)}`)) === 1
      );
    });
  }

  async open(model = 'alpha'): Promise<void> {
    if (this.#pullers.has(model)) return;
    const { agingShare } = this;
    this.#pullers.set(
      model,
      await ScriptedPuller.start({ url: this.server.url, model, agingShare }),
    );
    await this.until('the worker is known', () => this.harness.knowsPuller(model));
  }

  async take(model = 'alpha'): Promise<Taken> {
    await this.open(model);
    const puller = this.#pullers.get(model)!;
    const held: HeldJob = await puller.take();
    await this.until(`${held.id} is known to run`, () => {
      const types = this.harness.types(held.id);
      return types.includes('leased') || types.includes('settled');
    });
    return {
      id: held.id,
      answer: async () => {
        await held.complete();
        await this.until(`${held.id} settled`, () =>
          this.harness.types(held.id).includes('settled'),
        );
      },
      // A worker that pulls watches the limit itself.
      overrun: () =>
        held.completeWith({
          v: 1,
          outcome: 'failed',
          error: encodeJobError(inferenceTimeout(held.data.timeoutMs)),
          phases: { workerId: 'p', takenMs: 0, batchWaitMs: 0, totalMs: 0, attempts: 1 },
        }),
      toldToStop: async () => {
        const jobId = KEYS.job(held.id, held.data.tenant);
        await this.until('stop note', () => puller.notes.some(note => note.jobId === jobId));
        return true;
      },
    };
  }

  age(ms: number): Promise<void> {
    return aged(this.client, ms, this.agingShare);
  }

  async stop(): Promise<void> {
    for (const puller of this.#pullers.values()) await puller[Symbol.asyncDispose]();
    await this.harness.stop();
    this.client.disconnect();
    await this.server[Symbol.asyncDispose]();
  }
}

/** What waits in Redis has waited that much longer. */
async function aged(client: Redis, ms: number, agingShare: number): Promise<void> {
  for (const model of ['alpha', 'beta']) {
    const base = `switchyard:${KEYS.queue(model)}:`;
    const waiting = await client.zrange(`${base}prioritized`, 0, '-1');
    const priorities = await Promise.all(
      waiting.map(async id => Number(await client.hget(`${base}${id}`, 'priority'))),
    );
    // All at once: a gateway may sort them in between. An arrival again: each is sorted by its new
    // age.
    const changes = client.multi();
    for (const [nth, id] of waiting.entries())
      changes
        .hincrby(`${base}${id}`, 'timestamp', -ms)
        .zadd(`${base}prioritized`, priorities[nth]! * 2 ** 32 + nth, id);
    await changes.exec();
    const rules = { agingMs: 30_000, agingShare };
    await new RedisOrder({ redis: client, keys: KEYS, ...rules }).sort(model);
  }
}

/** Chats: their bodies are in this gateway, their places in Redis. */
class TextHarness extends EmbeddedHarness {
  #close: (() => Promise<void>) | undefined;
  #age: ((ms: number) => Promise<void>) | undefined;
  #waiting: ((model: string) => Promise<string[]>) | undefined;

  static override async open(settings: Overrides): Promise<QueueHarness> {
    const server = await RedisServer.start();
    const folder = temporaryFolder();
    const where = { 'queue.driver': 'redis', 'redis.url': server.url, 'data.dir': folder } as const;
    const scheduler = await SchedulerHarness.start({ settings: { ...where, ...settings } });
    scheduler.pool.sharesSlots = true;
    const client = redisClient(server.url);
    const harness = new TextHarness(scheduler);
    harness.#age = ms => aged(client, ms, Number(settings['queue.aging_share'] ?? 0.25));
    harness.#waiting = model =>
      client.zrange(`switchyard:${KEYS.queue(model)}:prioritized`, 0, '-1');
    harness.#close = async () => {
      client.disconnect();
      await server[Symbol.asyncDispose]();
    };
    await harness.until('Redis is usable', () => scheduler.redisUsable);
    return harness;
  }

  override submit(id: string, spec: Partial<RequestSpec> = {}): Promise<SettledRequest> {
    const payload = { kind: 'generate', form: 'chat', body: Buffer.from('{}') } as const;
    return super.submit(id, { payload: { ...payload, maxTokens: 1, n: 1 }, ...spec });
  }

  override async open(model = 'alpha'): Promise<void> {
    await super.open(model);
    const places = this.harness.app.get(TextPlaces, { strict: false });
    await this.until('Redis has the order', () => places.elsewhere(model) !== undefined);
  }

  /** Its place is in Redis. */
  override async accepted(id: string, tenant?: string): Promise<void> {
    await super.accepted(id);
    await this.harness.settle();
    const { model } = this.harness.of('accepted').find(({ requestId }) => requestId === id)!;
    if (this.harness.app.get(TextPlaces, { strict: false }).elsewhere(model) === undefined) return;
    await this.until(`the place of ${id} is in Redis`, () => this.#hasPlace(id, model, tenant));
  }

  async #hasPlace(id: string, model: string, tenant?: string): Promise<boolean> {
    const types = this.harness.types(id);
    if (types.includes('leased') || types.includes('settled')) return true;
    const places = (await this.#waiting?.(model)) ?? [];
    return places.some(place => place.startsWith(`${KEYS.job(id, tenant)}.`));
  }

  override async age(ms: number): Promise<void> {
    await super.age(ms);
    await this.#age?.(ms);
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.#close?.();
  }
}

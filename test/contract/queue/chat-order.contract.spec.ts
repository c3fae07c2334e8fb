import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SharedPlaces, type Grant } from '@switchyard/shared-queue/client/shared-places.js';
import { QueueJobClass, QueueKeys } from '@switchyard/shared-queue/keys.js';
import { RedisClock } from '@switchyard/shared-queue/redis-clock.js';
import fc from 'fast-check';
import { type Redis } from 'ioredis';
import { PriorityQueue } from '../../../src/core/queue/priority-queue.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { type ScheduledRequest } from '../../../src/core/request/scheduled-request.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { aRequest } from '../../support/requests.js';
import { describeWith, REDIS } from '../../support/requires.js';

/** Cases of one test, which takes some ten seconds; `SWITCHYARD_ORDER_THOUSANDS` tests in the night. */
const CASES = 1000;
const THOUSANDS = Number(process.env.SWITCHYARD_ORDER_THOUSANDS ?? 1);
const RULES = { agingMs: 30_000, agingShare: 0.25 };
const WEIGHTS: Readonly<Record<string, number>> = { a: 1, b: 1, c: 2 };

const arrival = fc.record({
  tenant: fc.constantFrom('a', 'b', 'c'),
  isRealtime: fc.boolean(),
  isAged: fc.boolean(),
  estimateMs: fc.constantFrom(8, 64),
  // Sums are exact, so that equal start tags are equal in both.
  deviceMs: fc.constantFrom(4, 8, 16, 128),
  gateway: fc.nat(3),
});
const history = fc.record({
  gateways: fc.integer({ min: 1, max: 4 }),
  /** Credits of each worker. */
  workers: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }),
  /** An arrival, or the end of one that runs. */
  steps: fc.array(fc.oneof(arrival, fc.record({ ends: fc.nat(5) })), {
    minLength: 5,
    maxLength: 25,
  }),
});
type History = typeof history extends fc.Arbitrary<infer T> ? T : never;
type Arrival = typeof arrival extends fc.Arbitrary<infer T> ? T : never;

const sinceMs = (nowMs: number, nth: number, { isAged }: Arrival): number =>
  nowMs - (isAged ? 2 : 0.5) * RULES.agingMs + nth;

/** In the order of their dispatch, by the rules of one gateway with an embedded queue. */
function ofOne({ workers, steps }: History): string[] {
  const queue = new PriorityQueue({ ...RULES, weightOf: tenant => WEIGHTS[tenant] ?? 1 });
  const all = new Map<string, { request: ScheduledRequest; deviceMs: number }>();
  const slots = workers.reduce((sum, credits) => sum + credits, 0);
  const running: string[] = [];
  const order: string[] = [];
  for (const [nth, step] of steps.entries()) {
    if ('ends' in step) {
      const [id] = running.splice(step.ends % (running.length || 1), 1);
      const ended = all.get(id ?? '');
      if (ended) queue.measured(ended.request, ended.deviceMs);
    } else {
      const { tenant, isRealtime, estimateMs: costMs, deviceMs } = step;
      const priority = isRealtime ? RequestPriority.REALTIME : RequestPriority.BATCH;
      const enqueuedAtMs = sinceMs(0, nth, step);
      const request = aRequest(`r${nth}`, { tenant, costMs, priority, enqueuedAtMs });
      all.set(request.id, { request, deviceMs });
      queue.enqueue(request);
    }
    while (running.length < slots) {
      const next = queue.pick(0, lane => queue.take(lane, 1)[0]);
      if (!next) break;
      running.push(next.id);
      order.push(next.id);
    }
  }
  return order;
}

describeWith(REDIS)('the order of text over several gateways', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await RedisServer.start();
    redis = redisClient(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  /** The same with the real scripts: gateways without bodies, one worker or two. */
  async function ofMany({ gateways, workers, steps }: History): Promise<string[]> {
    await redis.flushdb();
    const keys = new QueueKeys('p');
    const access = { ...RULES, lockMs: 30_000, resultTtlMs: 60_000 };
    const link = {
      ...{ answeredMs: 1000, keys, redis, access, clock: new RedisClock() },
      ...{ listener: () => redis, failure: (error: unknown) => error as Error },
    };
    const all = Array.from({ length: gateways }, (_, at) => new SharedPlaces(link, `g${at}`));
    const accounts = workers.map((credits, at) => ({
      ...{ account: `w${at} http://w`, credits, overdraft: 0, extra: 0 },
    }));
    for (const one of all) await one.beat('m', accounts, true);
    const startMs = Number((await redis.time())[0]) * 1000;
    const running: string[] = [];
    const order: string[] = [];
    const placed = new Map<string, { step: Arrival; by: SharedPlaces }>();
    // What is granted to others is published; here all hear all, in the order of the leases.
    const granted = async (_: readonly Grant[]): Promise<void> => {
      const held = await redis.lrange(`${keys.base('m')}active`, 0, -1);
      for (const id of held.reverse().filter(one => !running.includes(one))) {
        running.push(id);
        order.push(id.split('.')[1]!);
      }
    };
    for (const [nth, step] of steps.entries()) {
      if ('ends' in step) {
        const [id] = running.splice(step.ends % (running.length || 1), 1);
        const ended = placed.get(id ?? '');
        if (!ended || id === undefined) continue;
        const { estimateMs, deviceMs, tenant, isRealtime } = ended.step;
        const level = isRealtime ? QueueJobClass.REALTIME : QueueJobClass.BATCH;
        await ended.by.settle('m', keys.owner(tenant), level, deviceMs - estimateMs);
        await granted(await ended.by.leave('m', [id]));
      } else {
        const by = all[step.gateway % gateways]!;
        const id = `${keys.job(`r${nth}`, step.tenant)}.1`;
        placed.set(id, { step, by });
        await granted(
          await by.enter('m', {
            ...{ id, shown: {}, prefer: [], avoid: [], isReturned: false, mostTogether: undefined },
            class: step.isRealtime ? QueueJobClass.REALTIME : QueueJobClass.BATCH,
            sinceMs: sinceMs(startMs, nth, step),
            costMs: step.estimateMs,
            weight: WEIGHTS[step.tenant]!,
          }),
        );
      }
    }
    return order;
  }

  const parts = Array.from({ length: THOUSANDS }, (_, at) => at + 1);
  it.each(parts)('is that of one gateway, whichever takes what (part %i)', async () => {
    await fc.assert(
      fc.asyncProperty(history, async given => {
        expect(await ofMany(given)).toEqual(ofOne(given));
      }),
      { numRuns: CASES },
    );
  });
});

import { Inject, Injectable } from '@nestjs/common';
import { type QueueJobResult } from '../../contracts/queue-jobs/job-result.js';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { isPromoted, QueueJobClass } from '../../contracts/queue-jobs/queue-keys.js';
import { keyOf, type RequestView } from '../../core/dispatch/request-view.js';
import { Entry } from '../../core/order/account.js';
import { FairLane } from '../../core/order/fair-lane.js';
import { FairOrder } from '../../core/order/fair-order.js';
import { type PriorityQueue } from '../../core/queue/priority-queue.js';
import { type LatencyPhases } from '../../core/request/latency-phases.js';
import { DEFAULT_TENANT, requestKey, type RequestRef } from '../../core/request/request-key.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type QueueAccounts } from '../../platform/redis/redis-order.js';
import { type QueueDepth } from '../registry/request-queue.port.js';
import { AllWorkers } from './all-workers.js';
import { type JobFacts, type JobRef, ModelQueues } from './model-queues.js';
import { jobResultOf } from './request-jobs.js';
import { SharedQueueLink } from './shared-queue-link.js';

/**
 * Ids of waiting jobs in the order in which workers take them if none comes, ages
 * or is measured.
 */
function dispatchOrder(
  { others, agingCredit, tenants }: QueueAccounts,
  { agingMs, agingShare }: PriorityQueue['options'],
  nowMs = Date.now(),
): string[] {
  const lane = (isRealtime: boolean): FairLane<string> =>
    laneOf(
      tenants.filter(tenant => tenant.isRealtime === isRealtime),
      agingMs,
    );
  const lanes = { realtime: lane(true), batch: lane(false) };
  const order = new FairOrder<string>({ ...lanes, agingShare, agingCredit });
  return [...others, ...Array.from(order.inOrder(nowMs), ({ item }) => item)];
}

function laneOf(tenants: QueueAccounts['tenants'], agingMs: number): FairLane<string> {
  const weights = new Map(tenants.map(({ owner, weight }) => [owner, weight]));
  const lane = new FairLane<string>(owner => weights.get(owner) ?? 1);
  const from = Math.min(...tenants.map(({ startTag }) => startTag));
  const entries = tenants.flatMap(({ owner, startTag, weight, isRealtime, jobs }) => {
    lane.correct(owner, (startTag - from) * weight);
    return jobs.map(({ id, sinceMs, costMs }) => {
      const times = { sinceMs, orderMs: sinceMs, agesAtMs: sinceMs + agingMs };
      return new Entry(id, { isRealtime, tenant: owner, ...times, costMs, bytes: 0 });
    });
  });
  for (const entry of entries.toSorted((a, b) => a.place.sinceMs - b.place.sinceMs))
    lane.append(entry);
  return lane;
}

/** A request in the shared queue, whichever gateway accepted it. */
interface ListedJob {
  readonly ref: JobRef;
  readonly view: RequestView;
}

/** Of one model and state; further ones are counted, not listed. */
const MAX_LISTED = 1000;

/**
 * Counts by priority at one instant. Jobs that were released, or came back from a dead
 * worker, have left their class: the priority of those few is read from the options they
 * were queued with. The oldest is the first of a class, sorted or arrival
 * (`redis-order`), or one of those few.
 */
const COUNT = `
local from = function(class) return class * 0x100000000 end
local realtime = redis.call('ZCOUNT', KEYS[2], from(2), from(3) - 1)
local batch = redis.call('ZCOUNT', KEYS[2], from(3), '+inf')
local oldest = -1
local look = function(id)
  local at = tonumber(redis.call('HGET', ARGV[1] .. id, 'timestamp') or -1)
  if at >= 0 and (oldest < 0 or at < oldest) then oldest = at end
end
local moved = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', from(2) - 1)
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do moved[#moved + 1] = id end
for _, id in ipairs(moved) do
  local opts = redis.call('HGET', ARGV[1] .. id, 'opts') or '{}'
  if string.find(opts, '"priority":2', 1, true) then realtime = realtime + 1 else batch = batch + 1 end
  look(id)
end
for class = 2, 3.5, 0.5 do
  local head = redis.call('ZRANGEBYSCORE', KEYS[2], from(class), '(' .. from(class + 0.5), 'LIMIT', 0, 1)
  for _, id in ipairs(head) do look(id) end
end
return { realtime, batch, redis.call('LLEN', KEYS[3]), oldest }`;

/**
 * What all gateways have in the queue: read from Redis when asked, never kept (D-10).
 * Every method throws while Redis is away.
 */
@Injectable()
export class QueueListing {
  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    private readonly workers: AllWorkers,
    @Inject(MODELS) private readonly models: readonly ModelSpec[],
  ) {}

  /** By model: waiting requests in order of dispatch, then running ones. */
  async live(): Promise<ListedJob[]> {
    return (await Promise.all(this.models.map(({ id }) => this.#listed(id)))).flat();
  }

  /** The request of that id, running or ended lately, whoever wrote its job. */
  async find(ref: RequestRef): Promise<ListedJob | undefined> {
    return (await this.#named(ref)) ?? (await this.writtenByOthers(ref))[0];
  }

  /** By the name of its job. Without a tenant only requests without one are found. */
  async #named(wanted: RequestRef): Promise<ListedJob | undefined> {
    const refs = this.queues.refs(wanted);
    const facts = await this.queues.facts(refs);
    const at = facts.findIndex(found => found !== undefined);
    const ref = refs[at];
    const isWaiting = facts[at]?.taken === false && !facts[at].finished;
    const position = isWaiting && ref ? (await this.#waiting(ref.model)).indexOf(ref.jobId) + 1 : 0;
    return ref && (await this.#job(ref, facts[at], position || undefined));
  }

  /**
   * Jobs that other BullMQ clients wrote under names of their own. Without a tenant they
   * belong to the default one.
   */
  async writtenByOthers(ref: RequestRef): Promise<ListedJob[]> {
    if (ref.tenant !== undefined && ref.tenant !== DEFAULT_TENANT) return [];
    const key = requestKey(ref);
    return (await this.live()).filter(({ view }) => keyOf(view) === key);
  }

  depths(): Promise<QueueDepth[]> {
    return Promise.all(this.models.map(({ id }) => this.#depth(id)));
  }

  async #depth(model: string): Promise<QueueDepth> {
    const { redis, keys } = this.link;
    const base = keys.base(model);
    const places = ['wait', 'prioritized', 'active'].map(state => `${base}${state}`);
    const counts = await redis.eval(COUNT, places.length, ...places, base);
    const [realtime = 0, batch = 0, running = 0, oldestMs = -1] = counts as number[];
    const oldestWaitMs = oldestMs < 0 ? undefined : Date.now() - oldestMs;
    return { model, realtime, batch, running, oldestWaitMs };
  }

  /**
   * In order of dispatch: jobs that came back from dead workers, which BullMQ takes from
   * the right of its list first.
   */
  async #waiting(model: string): Promise<string[]> {
    const { redis, keys, access } = this.link;
    const returned = redis.lrange(`${keys.base(model)}wait`, -MAX_LISTED, -1);
    const accounts = this.queues.accounts(model);
    return [...(await returned).reverse(), ...dispatchOrder(await accounts, access)];
  }

  async #listed(model: string): Promise<ListedJob[]> {
    const { redis, keys } = this.link;
    const running = redis.lrange(`${keys.base(model)}active`, 0, MAX_LISTED - 1);
    const [all, active] = await Promise.all([this.#waiting(model), running]);
    const waiting = all.slice(0, MAX_LISTED);
    const refs = [...waiting, ...active.reverse()].map(jobId => ({ model, jobId }));
    const facts = await this.queues.facts(refs);
    const jobs = await Promise.all(
      refs.map((ref, at) => this.#job(ref, facts[at], at < waiting.length ? at + 1 : undefined)),
    );
    return jobs.filter(job => job !== undefined);
  }

  /** Undefined: the job was removed meanwhile. */
  async #job(ref: JobRef, facts?: JobFacts, position?: number): Promise<ListedJob | undefined> {
    const data = facts && (await this.queues.data(ref));
    if (!facts || data === undefined) return undefined;
    return { ref, view: this.#view(ref, facts, data, position) };
  }

  #view(
    ref: JobRef,
    facts: JobFacts,
    job: Partial<QueueJob>,
    position: number | undefined,
  ): RequestView {
    const result = facts.finished ? jobResultOf(facts.returnValue) : undefined;
    const priority = priorityOf(job, facts);
    const state = result?.outcome ?? (facts.taken ? 'running' : 'queued');
    const waitedMs = waitedMsOf(job, facts);
    const waitsFor = this.workers.hasPulling(ref.model) ? 'slot' : 'worker';
    const isQueued = state === 'queued';
    const isOld = isQueued && this.#isOld(priority, waitedMs);
    return {
      id: job.id ?? ref.jobId,
      model: ref.model,
      tenant: job.tenant,
      priority,
      state,
      ...(isQueued && { position, waitsFor }),
      createdAtMs: job.acceptedMs ?? facts.timestamp,
      aged: isOld || isPromoted(facts.priority, priority),
      waitedMs,
      workerId: facts.workerId,
      attempts: facts.attempts,
      phases: result ? phasesOf(result, waitedMs) : {},
      code: codeOf(result),
    };
  }

  #isOld(priority: PriorityLabel, waitedMs: number): boolean {
    return priority === 'batch' && waitedMs >= this.link.access.agingMs;
  }
}

const waitedMsOf = ({ acceptedMs }: Partial<QueueJob>, facts: JobFacts): number =>
  Math.max(0, (facts.takenMs ?? Date.now()) - (acceptedMs ?? facts.timestamp));

const priorityOf = ({ priority }: Partial<QueueJob>, facts: JobFacts): PriorityLabel =>
  priority ?? (facts.priority === QueueJobClass.REALTIME ? 'realtime' : 'batch');

function phasesOf(result: QueueJobResult, queueWaitMs: number): LatencyPhases {
  const readyMs = result.outcome === 'completed' ? result.execution.readyWaitMs : undefined;
  return { queueWaitMs, grpcMs: result.phases.totalMs, readyMs };
}

function codeOf(result: QueueJobResult | undefined): RequestView['code'] {
  if (result?.outcome === 'failed') return result.error.code;
  return result?.outcome === 'cancelled' ? 'request_cancelled' : undefined;
}

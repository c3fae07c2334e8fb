import { Inject, Injectable } from '@nestjs/common';
import { type JobFacts } from '@switchyard/shared-queue/client/job-facts.js';
import { type JobRef, ModelQueues } from '@switchyard/shared-queue/client/model-queues.js';
import { type QueueJob } from '@switchyard/shared-queue/job.codec.js';
import { isPromoted, QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { type QueueAccounts } from '@switchyard/shared-queue/order/redis-order.js';
import { decodeJobError, type QueueJobResult } from '@switchyard/shared-queue/result.codec.js';
import { isErrorCode } from '../../contracts/errors/error-registry.js';
import { keyOf, type RequestView } from '../../core/dispatch/request-view.js';
import { Entry } from '../../core/order/account.js';
import { FairOrder } from '../../core/order/fair-order.js';
import { WeightedLane } from '../../core/order/weighted-lane.js';
import { type PriorityQueue } from '../../core/queue/priority-queue.js';
import { type LatencyPhases } from '../../core/request/latency-phases.js';
import { requestKey, type RequestRef } from '../../core/request/request-key.js';
import { type PriorityLabel, priorityLevel } from '../../core/request/request-priority.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { type QueueDepth } from '../registry/request-queue.port.js';
import { AllWorkers } from './all-workers.js';
import { jobResultOf } from './request-jobs.js';
import { SharedQueueLink } from './shared-queue-link.js';

/**
 * Ids of waiting jobs in the order in which workers take them if none comes, ages
 * or is measured.
 */
function dispatchOrder(
  { others, parked, agingCredit, tenants }: QueueAccounts,
  { agingMs, agingShare }: PriorityQueue['options'],
  nowMs: number,
): string[] {
  const lane = (isRealtime: boolean): WeightedLane<string> =>
    laneOf(
      tenants.filter(tenant => tenant.isRealtime === isRealtime),
      agingMs,
    );
  const lanes = { realtime: lane(true), batch: lane(false) };
  const order = new FairOrder<string>({ ...lanes, agingShare, agingCredit });
  const suspects = tenants.filter(({ isSuspect }) => isSuspect).flatMap(({ jobs }) => jobs);
  const young = suspects.filter(({ sinceMs }) => nowMs - sinceMs < agingMs);
  const yielding = new Set(young.map(({ id }) => id));
  const sorted = order.inOrder(nowMs, id => yielding.has(id));
  return [...others, ...Array.from(sorted, ({ item }) => item), ...parked];
}

function laneOf(tenants: QueueAccounts['tenants'], agingMs: number): WeightedLane<string> {
  const weights = new Map(tenants.map(({ owner, weight }) => [owner, weight]));
  const lane = new WeightedLane<string>(owner => weights.get(owner) ?? 1);
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
    private readonly swaps: DeviceSwaps,
  ) {}

  /** By model: waiting requests in order of dispatch, then running ones. */
  async live(): Promise<ListedJob[]> {
    return (await Promise.all(this.models.map(({ id }) => this.#listed(id)))).flat();
  }

  /** The request of that id, running or ended lately, whoever wrote its job. */
  async find(ref: RequestRef): Promise<ListedJob | undefined> {
    return (await this.#named(ref)) ?? (await this.otherwiseNamed(ref))[0];
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
   * Places of text, and jobs that other BullMQ clients wrote under names of their own: without
   * a tenant these belong to the default one.
   */
  async otherwiseNamed(ref: RequestRef): Promise<ListedJob[]> {
    const key = requestKey(ref);
    return (await this.live()).filter(({ view }) => keyOf(view) === key);
  }

  depths(): Promise<QueueDepth[]> {
    return Promise.all(this.models.map(({ id }) => this.#depth(id)));
  }

  async #depth(model: string): Promise<QueueDepth> {
    const { oldestRealtimeMs, oldestBatchMs, ...counts } = await this.queues.counts(model);
    const oldestMs = Math.min(oldestRealtimeMs, oldestBatchMs);
    const oldestWaitMs = oldestMs === Infinity ? undefined : this.link.clock.nowMs() - oldestMs;
    return { model, ...counts, oldestWaitMs };
  }

  /**
   * In order of dispatch: jobs that came back from dead workers, which BullMQ takes from
   * the right of its list first.
   */
  async #waiting(model: string): Promise<string[]> {
    const { access, clock } = this.link;
    const [returned, accounts] = await Promise.all([
      this.queues.returned(model, MAX_LISTED),
      this.queues.accounts(model),
    ]);
    return [...returned, ...dispatchOrder(accounts, access, clock.nowMs())];
  }

  async #listed(model: string): Promise<ListedJob[]> {
    const [all, active] = await Promise.all([
      this.#waiting(model),
      this.queues.running(model, MAX_LISTED),
    ]);
    const waiting = all.slice(0, MAX_LISTED);
    const refs = [...waiting, ...active].map(jobId => ({ model, jobId }));
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
    const sinceMs = job.acceptedMs ?? facts.timestamp;
    const waitedMs = Math.max(0, (facts.takenMs ?? this.link.clock.nowMs()) - sinceMs);
    const isQueued = state === 'queued';
    const isOld = isQueued && this.#isOld(priority, waitedMs);
    return {
      id: job.id ?? ref.jobId,
      model: ref.model,
      tenant: job.tenant,
      priority,
      state,
      ...(isQueued && { position, ...this.#waitsFor(ref.model, priority) }),
      createdAtMs: sinceMs,
      aged: isOld || isPromoted(facts.priority, priority),
      waitedMs,
      workerId: facts.workerId,
      attempts: facts.attempts,
      phases: phasesOf(result, waitedMs),
      code: codeOf(result),
    };
  }

  #waitsFor(model: string, priority: PriorityLabel): Pick<RequestView, 'waitsFor' | 'load'> {
    if (this.workers.hasPulling(model) || this.workers.hasPushed(model))
      return { waitsFor: 'slot' };
    if (!this.swaps.isAway(model)) return { waitsFor: 'worker' };
    const load = this.swaps.expected(model, priorityLevel(priority));
    return { waitsFor: 'device', load };
  }

  #isOld(priority: PriorityLabel, waitedMs: number): boolean {
    return priority === 'batch' && waitedMs >= this.link.access.agingMs;
  }
}

const priorityOf = ({ priority }: Partial<QueueJob>, facts: JobFacts): PriorityLabel =>
  priority ?? (facts.priority === QueueJobClass.REALTIME ? 'realtime' : 'batch');

function phasesOf(result: QueueJobResult | undefined, queueWaitMs: number): LatencyPhases {
  if (!result) return {};
  const readyMs = result.outcome === 'completed' ? result.execution.readyWaitMs : undefined;
  return { queueWaitMs, grpcMs: result.phases.totalMs, readyMs };
}

function codeOf(result: QueueJobResult | undefined): RequestView['code'] {
  if (result?.outcome === 'failed') return decodeJobError(result.error, isErrorCode).code;
  return result?.outcome === 'cancelled' ? 'request_cancelled' : undefined;
}

import { Inject, Injectable } from '@nestjs/common';
import { type QueueJob } from '../../contracts/queue-jobs/queue-job.js';
import { QueueJobClass } from '../../contracts/queue-jobs/queue-keys.js';
import { type StopReason } from '../../contracts/queue-jobs/queue-messages.js';
import { type QueueJobResult, readJobResult } from '../../contracts/queue-jobs/job-result.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { isPromoted } from '../../platform/redis/plane-ager.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { type JobFacts, ModelQueues, type JobRef } from './model-queues.js';
import { JobCancels } from './job-cancels.js';

/** One request in the shared queue, whichever gateway accepted it. */
export interface WorkerSighting {
  readonly ref: JobRef;
  readonly id: string;
  readonly tenant?: string;
  readonly priority: PriorityLabel;
  readonly aged: boolean;
  /** Epoch milliseconds. */
  readonly acceptedMs: number;
  readonly facts: JobFacts;
  /** 1-based place in its line; absent when it does not wait, or nobody counted. */
  readonly position?: number;
  /** How it ended. */
  readonly result?: QueueJobResult;
  /** Who stopped it. */
  readonly stopped?: StopReason;
}

/** Of one line; who waits behind them is counted, not shown. */
const MOST = 1000;

/** The requests of all gateways, read from Redis at the moment of asking. */
@Injectable()
export class QueueListing {
  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    private readonly stops: JobCancels,
    @Inject(MODELS) private readonly models: readonly ModelSpec[],
  ) {}

  /** Waiting ones in order of dispatch, then running ones, by model. @throws when Redis does not answer. */
  async live(): Promise<WorkerSighting[]> {
    const lines = await Promise.all(this.models.map(({ id }) => this.#line(id)));
    return lines.flat();
  }

  /** The request of that id, running or lately ended. Without a tenant only requests that belong to nobody are found. */
  async find(requestId: string, tenant: string | undefined): Promise<WorkerSighting | undefined> {
    const refs = this.queues.refs(requestId, tenant);
    const facts = await this.queues.facts(refs);
    const at = facts.findIndex(found => found !== undefined);
    const ref = refs[at];
    return ref && (await this.#sighting(ref, facts[at], await this.#position(ref)));
  }

  /** In order of dispatch: those that came back from dead workers, then the classes. */
  async #position({ queue, jobId }: JobRef): Promise<number | undefined> {
    const base = this.queues.base(queue);
    const { redis } = this.link;
    const [returned, rank] = await Promise.all([redis.llen(`${base}wait`), redis.zrank(`${base}prioritized`, jobId)]);
    return typeof rank === 'number' ? returned + rank + 1 : undefined;
  }

  async #line(model: string): Promise<WorkerSighting[]> {
    const queue = this.link.keys.queue(model);
    const base = this.queues.base(queue);
    const { redis } = this.link;
    const [returned, waiting, active] = await Promise.all([
      redis.lrange(`${base}wait`, -MOST, -1),
      redis.zrange(`${base}prioritized`, 0, String(MOST - 1)),
      redis.lrange(`${base}active`, 0, MOST - 1),
    ]);
    // BullMQ takes from the right of its list, before it looks at the classes.
    const line = [...returned.reverse(), ...waiting];
    const refs = [...line, ...active.reverse()].map(jobId => ({ model, queue, jobId }));
    const facts = await this.queues.facts(refs);
    const seen = await Promise.all(
      refs.map((ref, at) => this.#sighting(ref, facts[at], at < line.length ? at + 1 : undefined)),
    );
    return seen.filter(sighting => sighting !== undefined);
  }

  async #sighting(ref: JobRef, facts?: JobFacts, position?: number): Promise<WorkerSighting | undefined> {
    if (!facts) return undefined;
    const data = await this.queues.data(ref);
    // Removed since: without its data nobody can tell whose it was.
    if (data === undefined) return undefined;
    const job = (data ?? {}) as Partial<QueueJob>;
    const priority = laneOf(job, facts);
    const result = facts.finished ? resultOf(facts) : undefined;
    const stopped = result?.outcome === 'cancelled' ? await this.stops.reasonOf(ref) : undefined;
    return {
      ...{ ref, facts, priority, id: job.id ?? ref.jobId, acceptedMs: job.acceptedMs ?? facts.timestamp },
      aged: isPromoted(facts.priority, priority),
      ...(job.tenant !== undefined && { tenant: job.tenant }),
      ...(position !== undefined && { position }),
      ...(result && { result }),
      ...(stopped && { stopped }),
    };
  }
}

const laneOf = ({ priority }: Partial<QueueJob>, facts: JobFacts): PriorityLabel =>
  priority ?? (facts.priority === QueueJobClass.REALTIME ? 'realtime' : 'batch');

function resultOf({ returnValue = 'null' }: JobFacts): QueueJobResult | undefined {
  try {
    return readJobResult(JSON.parse(returnValue));
  } catch {
    return undefined;
  }
}

import { Inject, Injectable, Optional } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  type LiveBatch,
  type LiveGone,
  type LiveQueueLine,
  type LiveRequest,
  type LiveRoomName,
  type LiveState,
  type LiveWorker,
} from '../../contracts/events/live-event.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { DEFAULT_TENANT, type RequestKey } from '../../core/request/request-key.js';
import { GatewayIdentity } from '../../platform/clock/gateway-identity.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';

/** Every gateway reads the same rows, so no other gateway is asked. */
export const isBatchRoom = (room: LiveRoomName): boolean => room.startsWith('batch:');

/**
 * Name of a part, which numbers its own changes: one per gateway and, where several tenants
 * share a room, per tenant. One text, since clients compare it (`source` of live events); no
 * gateway's id has a `~`.
 */
export const partId = (gateway: string, tenant = DEFAULT_TENANT): string =>
  tenant === DEFAULT_TENANT ? gateway : `${gateway}~${tenant}`;

/** The gateway that has that part. */
export const partGateway = ({ source }: LiveGone): string => source.split('~', 1)[0]!;

/** Whose part that is; undefined: visible to all. */
export function partTenant({ room, source }: LiveGone): string | undefined {
  if (room === 'queue' || room === 'workers') return undefined;
  const at = source.indexOf('~');
  return at < 0 ? DEFAULT_TENANT : source.slice(at + 1);
}

const NO_ENDS = { rejected: 0, completed: 0, failed: 0, cancelled: 0 };

/** Events that change the queue of a model. */
const QUEUE_CHANGES: ReadonlySet<DispatchEvent['type']> = new Set([
  'accepted',
  'rejected',
  'leased',
  'requeued',
  'reprioritized',
  'settled',
  'withdrawn',
]);

/**
 * This gateway's part of each room, as it is now: requests and queues are read from the
 * registry. Only how requests ended is counted, from the dispatch events (D-23), with
 * or without listeners.
 */
@Injectable()
export class LiveSource {
  readonly #ends = new Map<string, typeof NO_ENDS>();
  /** The batches that have listeners, as last read. */
  readonly #batches = new Map<string, { tenant: string; view: LiveBatch }>();

  constructor(
    private readonly registry: RequestRegistry,
    private readonly pool: WorkerPoolService,
    @Inject(MODELS) models: readonly ModelSpec[],
    private readonly identity: GatewayIdentity,
    @Optional() private readonly swaps?: DeviceSwaps,
  ) {
    for (const { id } of models) this.#ends.set(id, { ...NO_ENDS });
  }

  /** Names this gateway among those that share a Redis. */
  get id(): string {
    return this.identity.id;
  }

  /** True when the queue of the event's model has changed. */
  apply(event: DispatchEvent): boolean {
    const { model } = event;
    let ends = this.#ends.get(model);
    if (ends === undefined) this.#ends.set(model, (ends = { ...NO_ENDS }));
    if (event.type === 'rejected') ends.rejected += 1;
    else if (event.type === 'settled') ends[event.status] += 1;
    else if (event.type === 'withdrawn') {
      ends.completed -= 1;
      ends.cancelled += 1;
    }
    return QUEUE_CHANGES.has(event.type);
  }

  /**
   * Empty: this gateway has no part of that room. Several: that many tenants have a
   * request of that id (D-31).
   */
  read(room: LiveRoomName): {
    readonly state: LiveState;
    /** Absent: visible to all. */
    readonly tenant?: string;
  }[] {
    if (room === 'queue') return [{ state: this.queues([...this.#ends.keys()]) }];
    if (room === 'workers') return [{ state: this.#workers() }];
    const id = room.slice(room.indexOf(':') + 1);
    const found = room.startsWith('request:')
      ? this.#named(id)
      : [this.#batches.get(id) ?? []].flat();
    return found.map(({ tenant, view }) => ({ state: { [id]: view }, tenant }));
  }

  /** The queues of these models. */
  queues(models: readonly string[]): Record<string, LiveQueueLine> {
    const live = Map.groupBy(this.registry.live(), ({ model }) => model);
    return Object.fromEntries(
      models.map(model => [model, this.#queue(model, live.get(model) ?? [])]),
    );
  }

  /** A request that has not ended, or ended recently, as its owner sees it. */
  find(key: RequestKey) {
    const record = this.registry.get(key);
    if (record) return this.#live(record);
    const ended = this.registry.ended(key);
    return ended && ownRequest(ended, ended.phases);
  }

  batch(id: string) {
    return this.#batches.get(id);
  }

  /** @returns the batch as listeners see it now; undefined when nothing changed */
  readBatch(job: BatchJob) {
    const read = { tenant: job.tenant, view: liveBatch(job) };
    if (writeJson(this.#batches.get(job.id)?.view) === writeJson(read.view)) return undefined;
    this.#batches.set(job.id, read);
    return read;
  }

  forgetBatch(id: string): void {
    this.#batches.delete(id);
  }

  #queue(model: string, live: readonly TrackedRequest[]): LiveQueueLine {
    const waiting = live.filter(({ state }) => state === 'queued');
    const realtime = waiting.filter(({ priority }) => priority === 'realtime').length;
    const batch = waiting.length - realtime;
    return {
      model,
      realtime,
      batch,
      running: live.length - waiting.length,
      ...(this.#ends.get(model) ?? NO_ENDS),
    };
  }

  /** Without addresses, processes or logs, which listeners need not know. */
  #workers(): Readonly<Record<string, LiveWorker>> {
    return Object.fromEntries(
      this.pool
        .workers()
        .map(({ id, model, state, slots: { total, inUse }, streams, restarts }) => {
          const { device, stage } = this.swaps?.placements.at(model) ?? {};
          const counts = { slots: total, in_use: inUse, streams, restarts };
          return [id, { id, model, state, ...counts, device, stage }];
        }),
    );
  }

  /** Every tenant's request of that id. */
  #named(id: string) {
    const live = this.registry.live().filter(record => record.id === id);
    const ended = this.registry.allEnded().filter(view => view.id === id);
    return [
      ...live.map(record => this.#live(record)),
      ...ended.reverse().map(view => ownRequest(view, view.phases)),
    ];
  }

  /** A request that has not ended; its phases are those of its latest lease. */
  #live(record: TrackedRequest) {
    return ownRequest(this.registry.view(record), record.lease?.phases);
  }
}

function ownRequest(request: RequestView, phases: RequestView['phases'] | undefined) {
  const { model, priority, state, attempts, aged, group, code } = request;
  const view: LiveRequest = {
    request_id: request.id,
    model,
    priority,
    state,
    attempts,
    aged,
    worker: request.workerId,
    group,
    cancel_reason: request.cancelReason,
    code,
    phases,
    batch_size: request.batchSize,
  };
  return { tenant: request.tenant ?? DEFAULT_TENANT, view };
}

const liveBatch = (job: BatchJob): LiveBatch => ({
  id: job.id,
  status: job.status,
  endpoint: job.endpoint,
  model: job.model,
  request_counts: job.counts,
  expires_at: Math.floor(job.expiresAtMs / 1000),
  output_file_id: job.outputFileId,
  error_file_id: job.errorFileId,
});

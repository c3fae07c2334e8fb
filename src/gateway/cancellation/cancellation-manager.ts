import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { isLive, matchesFilter, type RequestFilter } from '../../core/dispatch/request-view.js';
import {
  callersId,
  type RequestKey,
  requestKey,
  type RequestRef,
} from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { SharedRequestQueue } from '../shared-queue/shared-request-queue.js';
import { TextPlaces } from '../shared-queue/text-places.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { StopErrors } from './stop-errors.js';

/**
 * Stops requests wherever they are: the one way of callers, operators, lost connections, the
 * inference deadline, silence and shutdown. Requests that wait for a model are stopped when
 * it turns out that no worker of it can start.
 *
 * The caller is settled before this returns to the event loop; only the signal
 * to the worker takes time. The slot stays leased until the worker stops,
 * which WorkerCalls awaits.
 */
@Injectable()
export class CancellationManager implements OnApplicationBootstrap {
  constructor(
    private readonly registry: RequestRegistry,
    private readonly errors: StopErrors,
    private readonly clock: ProcessClock,
    private readonly pool: WorkerPoolService,
    private readonly shared: SharedRequestQueue,
    private readonly places: TextPlaces,
  ) {}

  onApplicationBootstrap(): void {
    this.places.stops$.subscribe(({ key, reason }) => void this.#cancelOwn(key, reason));
    this.pool.activity$.subscribe(event => {
      // Not at once: a turn of the dispatcher may have asked for the workers.
      if (event.type === 'load_failed') setImmediate(() => this.#refuse(event.model));
    });
  }

  /**
   * True if this call stopped it: a second one, or one after the end, finds nothing. Its
   * caller is settled at once; resolves when the worker was notified (at most 100 ms). Its
   * caller and operators can also stop a request that another gateway accepted.
   */
  async cancel(ref: RequestRef, reason: CancelReason): Promise<boolean> {
    if (await this.#cancelOwn(requestKey(ref), reason)) return true;
    return (
      (reason === 'client' || reason === 'operator') && this.shared.cancelElsewhere(ref, reason)
    );
  }

  /**
   * Ids of those that this call stopped, oldest first; with a shared queue those of all
   * gateways. An empty filter means all.
   */
  async cancelMany(filter: RequestFilter, reason: CancelReason): Promise<string[]> {
    const { state } = filter;
    if (state !== undefined && !isLive({ state })) return [];
    const own = await this.cancelMatching(
      record => matchesFilter(this.registry.view(record), filter),
      reason,
    );
    const elsewhere = await this.shared.cancelMatching(view => matchesFilter(view, filter), reason);
    return [...new Set([...own, ...elsewhere])].map(callersId);
  }

  /**
   * Those of this gateway that match and that this call stopped, oldest first. All callers are settled
   * before a worker answers.
   */
  async cancelMatching(
    matches: (record: TrackedRequest) => boolean,
    reason: CancelReason,
  ): Promise<RequestKey[]> {
    const keys = this.registry.live().flatMap(record => (matches(record) ? record.key : []));
    const stopped = await Promise.all(keys.map(key => this.#cancelOwn(key, reason)));
    return keys.filter((_, index) => stopped[index]);
  }

  async #cancelOwn(key: RequestKey, reason: CancelReason): Promise<boolean> {
    const record = this.registry.get(key);
    if (record) return this.#stop(record, reason);
    // What is on its way into its queue is rejected there.
    const entering = this.registry.entering(key);
    await entering?.queue.cancel(entering.request, reason, undefined);
    return entering !== undefined;
  }

  async #stop(record: TrackedRequest, reason: CancelReason): Promise<true> {
    const startedAtMs = this.clock.nowMs();
    const { workerId } = record;
    const stage = workerId === undefined ? 'queued' : 'in_flight';
    record.cancelled(reason);
    this.registry.emit(record, { type: 'cancel_requested', stage, reason });
    this.registry.settle(record, this.errors.stopped(record.request, reason));
    await record.queue.cancel(record.request, reason, workerId);
    this.registry.emit(record, {
      type: 'cancel_signalled',
      stage,
      latencyMs: this.clock.nowMs() - startedAtMs,
    });
    return true;
  }

  #refuse(model: string): void {
    void this.cancelMatching(
      record =>
        record.model === model &&
        record.state === 'queued' &&
        this.errors.unserved(record) !== undefined,
      'load_failed',
    );
  }
}

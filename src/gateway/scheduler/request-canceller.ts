import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { RequestFailures } from './request-failures.js';
import { RequestRegistry } from './request-registry.js';
import { type TrackedRequest } from './tracked-request.js';

/**
 * Stops requests wherever they are: the one path of cancels by people, of the inference
 * deadline and of shutdown. Requests that wait for a model are stopped when it turns out
 * that no worker of it can start.
 *
 * The caller is settled before this returns to the event loop; only the signal
 * to the worker takes time. The slot stays leased until the worker stops,
 * which WorkerCalls awaits.
 */
@Injectable()
export class RequestCanceller implements OnApplicationBootstrap {
  constructor(
    private readonly registry: RequestRegistry,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
    private readonly pool: WorkerPoolService,
  ) {}

  onApplicationBootstrap(): void {
    this.pool.activity$.subscribe(event => {
      // Not at once: a turn of the dispatcher may have asked for the workers.
      if (event.type === 'load_failed') setImmediate(() => this.#refuse(event.model));
    });
  }

  /**
   * True if this call stopped it: a second one, or one after the end, finds nothing.
   * Resolves when the worker was notified.
   */
  async cancel(key: RequestKey, reason: CancelReason): Promise<boolean> {
    const record = this.registry.get(key);
    if (record) return this.#stop(record, reason);
    // What is on its way into its queue is rejected there.
    const entering = this.registry.entering(key);
    await entering?.queue.cancel(entering.request, reason, undefined);
    return entering !== undefined;
  }

  /**
   * Those that match and that this call stopped, oldest first. All callers are settled
   * before a worker answers.
   */
  async cancelMatching(
    matches: (record: TrackedRequest) => boolean,
    reason: CancelReason,
  ): Promise<RequestKey[]> {
    const keys = this.registry.live().flatMap(record => (matches(record) ? record.key : []));
    const stopped = await Promise.all(keys.map(key => this.cancel(key, reason)));
    return keys.filter((_, index) => stopped[index]);
  }

  async #stop(record: TrackedRequest, reason: CancelReason): Promise<true> {
    const startedAtMs = this.clock.nowMs();
    const { workerId } = record;
    const stage = workerId === undefined ? 'queued' : 'in_flight';
    record.cancelReason = reason;
    this.registry.emit(record, { type: 'cancel_requested', stage, reason });
    this.registry.settle(record, this.failures.stopped(record.request, reason));
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
        this.failures.unserved(record) !== undefined,
      'load_failed',
    );
  }
}

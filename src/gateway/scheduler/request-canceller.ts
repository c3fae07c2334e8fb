import { Injectable } from '@nestjs/common';
import { type CancelFilter, CancellationManager } from '../../core/cancellation/cancellation-manager.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { RequestRegistry } from './request-registry.js';
import { RequestFailures } from './request-failures.js';

/**
 * Stops requests wherever they are: the one path of cancels by people, of the inference deadline and of shutdown.
 *
 * The caller is settled before this returns to the event loop; only the signal to the worker takes time. The slot stays
 * leased until the worker stops, which WorkerCalls awaits.
 */
@Injectable()
export class RequestCanceller {
  constructor(
    private readonly cancellation: CancellationManager,
    private readonly registry: RequestRegistry,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
  ) {}

  /**
   * True if this call stopped it: a second one, or one after the end, finds nothing. Resolves when the worker was
   * notified.
   */
  async cancel(key: RequestKey, reason: CancelReason): Promise<boolean> {
    const startedAtMs = this.clock.nowMs();
    const target = this.cancellation.cancel(key);
    const tracked = this.registry.get(key);
    if (!target.found || !tracked) return this.#cancelEntering(key, reason);
    const { stage } = target;
    this.registry.emit(tracked, { type: 'cancel_requested', stage, reason });
    this.registry.settle(tracked, this.failures.stopped(tracked.request, reason));
    await tracked.queue.cancel(key, reason, stage === 'in_flight' ? target.workerId : undefined);
    this.registry.emit(tracked, { type: 'cancel_signalled', stage, latencyMs: this.clock.nowMs() - startedAtMs });
    return true;
  }

  /** Those that match and that this call stopped, oldest first. */
  cancelMatching(filter: CancelFilter, reason: CancelReason): Promise<RequestKey[]> {
    return this.cancelAll(this.cancellation.keys(filter), reason);
  }

  /** Those of `keys` that this call stopped. All callers are settled before the first worker answers. */
  async cancelAll(keys: readonly RequestKey[], reason: CancelReason): Promise<RequestKey[]> {
    const stopped = await Promise.all(keys.map(key => this.cancel(key, reason)));
    return keys.filter((_, index) => stopped[index]);
  }

  /** What is on its way into its queue is rejected there. */
  async #cancelEntering(key: RequestKey, reason: CancelReason): Promise<boolean> {
    const entering = this.registry.entering(key);
    await entering?.queue.cancel(key, reason, undefined);
    return entering !== undefined;
  }
}

import { Injectable } from '@nestjs/common';
import { type CancelFilter, CancellationManager } from '../../core/cancellation/cancellation-manager.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';
import { RequestFailures } from './request-failures.js';

/**
 * Stops requests, wherever they are: cancels by people, the inference deadline, and shutdown take this one way.
 *
 * The caller is settled before this returns to the event loop; only the signal to the worker takes time. The slot stays
 * taken until the worker lets go of the work, which WorkerCalls watches.
 */
@Injectable()
export class RequestCanceller {
  constructor(
    private readonly cancellation: CancellationManager,
    private readonly dispatcher: Dispatcher<WorkerTask>,
    private readonly pool: WorkerPoolService,
    private readonly book: RequestRegistry,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
  ) {}

  /** True if this call stopped it: a second one, or one after the end, finds nothing. Resolves when the worker was told. */
  async cancel(key: RequestKey, reason: CancelReason): Promise<boolean> {
    const startedAtMs = this.clock.nowMs();
    const target = this.cancellation.cancel(key);
    const tracked = this.book.get(key);
    if (!target.found || !tracked) return false;
    const { stage } = target;
    if (stage === 'queued' && !tracked.line) this.dispatcher.withdraw(key);
    this.book.emit(tracked, { type: 'cancel_requested', stage, reason });
    this.book.settle(tracked, this.failures.stopped(tracked.request, reason));
    if (tracked.line) await tracked.line.stop(reason);
    else if (stage === 'in_flight') await this.pool.cancel(target.workerId, key, reason);
    this.book.emit(tracked, { type: 'cancel_signalled', stage, latencyMs: this.clock.nowMs() - startedAtMs });
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
}

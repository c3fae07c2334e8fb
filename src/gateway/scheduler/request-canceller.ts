import { Injectable } from '@nestjs/common';
import { type CancelFilter, CancellationManager } from '../../core/cancellation/cancellation-manager.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { RequestBook } from './request-book.js';
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
    private readonly book: RequestBook,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
  ) {}

  /** True if this call stopped it: a second one, or one after the end, finds nothing. Resolves when the worker was told. */
  async cancel(id: string, reason: CancelReason): Promise<boolean> {
    const startedAtMs = this.clock.nowMs();
    const target = this.cancellation.cancel(id);
    const tracked = this.book.get(id);
    if (!target.found || !tracked) return false;
    const { stage } = target;
    if (stage === 'queued' && !tracked.line) this.dispatcher.withdraw(id);
    this.book.emit(tracked, { type: 'cancel_requested', stage, reason });
    this.book.settle(tracked, this.failures.stopped(tracked.request, reason));
    if (tracked.line) await tracked.line.stop(reason);
    else if (stage === 'in_flight') await this.pool.cancel(target.workerId, id, reason);
    this.book.emit(tracked, { type: 'cancel_signalled', stage, latencyMs: this.clock.nowMs() - startedAtMs });
    return true;
  }

  /** Ids of those that match and that this call stopped, oldest first. */
  cancelMatching(filter: CancelFilter, reason: CancelReason): Promise<string[]> {
    return this.cancelAll(this.cancellation.ids(filter), reason);
  }

  /** Those of `ids` that this call stopped. All callers are settled before the first worker answers. */
  async cancelAll(ids: readonly string[], reason: CancelReason): Promise<string[]> {
    const stopped = await Promise.all(ids.map(id => this.cancel(id, reason)));
    return ids.filter((_, index) => stopped[index]);
  }
}

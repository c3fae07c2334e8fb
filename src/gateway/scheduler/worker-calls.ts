import { Injectable, Logger } from '@nestjs/common';
import { type DispatchPlan, type PlannedRequest } from '../../core/dispatch/dispatch-plan.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { countsAsAttempt, WorkerLostError } from '../../core/request/worker-lost.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { type WorkerCall } from '../worker-pool/worker-call.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';
import { RequestCanceller } from './request-canceller.js';
import { RequestFailures } from './request-failures.js';
import { type TrackedRequest } from './tracked-request.js';

/** Node fires a longer timer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Runs plans: one call per member, each on its own from then on (D-05). Leases go back when the worker lets go. */
@Injectable()
export class WorkerCalls {
  readonly #logger = new Logger(WorkerCalls.name);

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly book: RequestRegistry,
    private readonly dispatcher: Dispatcher<WorkerTask>,
    private readonly canceller: RequestCanceller,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
  ) {}

  run(plan: DispatchPlan<WorkerTask>): void {
    for (const member of plan.members) this.#begin(plan, member);
  }

  #begin(plan: DispatchPlan<WorkerTask>, member: PlannedRequest<WorkerTask>): void {
    const tracked = this.book.get(member.request.key);
    if (tracked) this.book.leased(tracked, plan, member);
    // A listener of these events may cancel any member: then nothing is sent, and the slot is free again.
    if (tracked?.lifecycle.state !== 'leased') return member.lease.release();
    try {
      this.#send(tracked, plan, member);
    } catch (error) {
      member.lease.release();
      this.#failed(tracked, error);
    }
  }

  #send(tracked: TrackedRequest, plan: DispatchPlan<WorkerTask>, { lease }: PlannedRequest<WorkerTask>): void {
    const { workerId, groupId, members, agingShare } = plan;
    const sentAtMs = this.clock.nowMs();
    const group = { id: groupId, size: members.length, ...(agingShare !== undefined && { agingShare }) };
    const call = this.pool.execute({ workerId, request: tracked.request, group });
    this.book.sent(tracked);
    const deadline = this.#startDeadline(tracked);
    this.#followReply(call, tracked, sentAtMs, deadline);
    void call.finished.then(() => {
      clearTimeout(deadline);
      this.book.released(tracked.key);
      lease.release();
    });
  }

  #followReply(call: WorkerCall, tracked: TrackedRequest, sentAtMs: number, deadline: NodeJS.Timeout): void {
    call.reply
      .then(
        reply => void this.book.settle(tracked, { status: 'completed', reply }),
        (error: unknown) => this.#failed(tracked, error, sentAtMs),
      )
      .finally(() => clearTimeout(deadline))
      .catch((error: unknown) => this.#logger.error({ err: error, requestId: tracked.id }, 'settling failed'));
  }

  /** Runs only while the worker has the request (D-07): time in the queue costs nothing here. */
  #startDeadline(tracked: TrackedRequest): NodeJS.Timeout {
    const delayMs = Math.min(tracked.request.inferenceTimeoutMs, MAX_TIMER_MS);
    return setTimeout(() => void this.canceller.cancel(tracked.key, 'deadline'), delayMs);
  }

  #failed(tracked: TrackedRequest, error: unknown, sentAtMs = this.clock.nowMs()): void {
    // Settled by a cancel or the deadline; what the worker says now answers nobody.
    if (tracked.lifecycle.state !== 'leased') return;
    if (error instanceof DomainError && error.code === 'worker_lost') return this.#lost(tracked, error, sentAtMs);
    if (error instanceof DomainError) return void this.book.settle(tracked, { status: 'failed', error });
    this.#logger.error({ err: error, requestId: tracked.id }, 'the call failed in a way that has no code');
    this.book.settle(tracked, this.failures.unexpected(error));
  }

  #lost(tracked: TrackedRequest, error: DomainError, sentAtMs: number): void {
    const kind = error instanceof WorkerLostError ? error.kind : 'disconnected';
    // Only waiting counts against the queue deadline, not the time that the lost worker had the request.
    const again = tracked.retry(kind, this.clock.nowMs() - sentAtMs);
    if (!again) return void this.book.settle(tracked, this.failures.workerLost(tracked, error));
    const code = countsAsAttempt(kind) ? 'worker_lost' : 'shutting_down';
    this.book.requeued(tracked, code, () => this.dispatcher.requeue(again));
  }
}

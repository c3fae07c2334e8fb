import { Injectable, Logger } from '@nestjs/common';
import { type DispatchPlan } from '../../core/dispatch/dispatch-plan.js';
import { type Lease } from '../../core/dispatch/lease.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { countsAsAttempt, WorkerLostError } from '../../core/request/worker-lost.js';
import { type WorkerCall } from '../../worker-client/worker-call.js';
import { type WorkerReply } from '../../worker-client/worker-task.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { observeCost } from '../registry/work-usage.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { RequestErrors } from './request-errors.js';

/**
 * Runs what the dispatcher decides. Of a plan, one call per member, each on its own from
 * then on (D-05). A lease is released when the worker ends the call.
 */
@Injectable()
export class WorkerCalls {
  readonly #logger = new Logger(WorkerCalls.name);

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly registry: RequestRegistry,
    private readonly queue: PriorityQueue,
    private readonly times: ServiceTimes,
    private readonly cancellations: CancellationManager,
    private readonly errors: RequestErrors,
  ) {}

  run(plan: DispatchPlan): void {
    const { workerId, groupId, members, reason } = plan;
    for (const { request, lease, batchWaitMs, aged } of members) {
      const tracked = this.registry.get(request.key);
      const to = { workerId, groupId, groupSize: members.length, reason, batchWaitMs };
      if (tracked) this.registry.leased(tracked, to, aged);
      // A subscriber to these events may cancel any member: then nothing is sent, and the
      // slot is free again.
      if (tracked?.state !== 'leased') lease.release();
      else
        this.#call(tracked, plan, lease).catch((error: unknown) =>
          this.#logger.error({ err: error, requestId: tracked.id }, 'settling failed'),
        );
    }
  }

  async #call(tracked: TrackedRequest, plan: DispatchPlan, lease: Lease): Promise<void> {
    const { workerId, groupId, members, agingShare } = plan;
    const { request } = tracked;
    const timeLimitMs = request.inferenceTimeoutMs;
    const sentAtMs = this.registry.nowMs();
    const { until, atMs = 0 } = request.deadline ?? {};
    const firstOutputMs = until === 'first_output' ? Math.max(1, atMs - sentAtMs) : undefined;
    const group = { id: groupId, size: members.length, agingShare, timeLimitMs, firstOutputMs };
    let call: WorkerCall | undefined;
    let reply: WorkerReply;
    try {
      call = this.pool.execute({ workerId, request, group });
      tracked.called(sentAtMs);
      tracked.startDeadline(call, () => void this.cancellations.cancel(tracked, 'deadline'));
      void call.finished.then(() => {
        this.registry.callEnded(tracked);
        lease.release();
      });
      reply = await call.reply;
    } catch (error) {
      if (!call) lease.release();
      return this.#failed(tracked, error, sentAtMs);
    }
    // Also of a request that was cancelled meanwhile: its device time is spent.
    const deviceMs = observeCost(this.times, request, reply);
    if (deviceMs !== undefined) this.queue.measured(request, deviceMs);
    this.registry.settle(tracked, { status: 'completed', reply });
  }

  #failed(tracked: TrackedRequest, error: unknown, sentAtMs: number): void {
    // Settled by a cancel or the deadline: this reply comes too late.
    if (tracked.state !== 'leased') return;
    if (error instanceof WorkerLostError) return this.#lost(tracked, error, sentAtMs);
    this.registry.settle(tracked, this.errors.reported(tracked, error));
  }

  #lost(tracked: TrackedRequest, error: WorkerLostError, sentAtMs: number): void {
    // Only waiting counts against the queue deadline, not the time that the lost worker
    // had the request.
    const again = tracked.retry(error, this.registry.nowMs() - sentAtMs);
    if (!again) return void this.registry.settle(tracked, this.errors.workerLost(tracked, error));
    const code = countsAsAttempt(error.kind) ? 'worker_lost' : 'shutting_down';
    this.registry.requeued(tracked, code, () => this.queue.restore(again));
  }
}

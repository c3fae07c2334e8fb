import { Injectable, Logger } from '@nestjs/common';
import { deviceShareMs } from '../../contracts/grpc/call.codec.js';
import {
  type DispatchPlan,
  type PlannedRequest,
} from '../../core/dispatch/dispatch-plan.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { countsAsAttempt, WorkerLostError } from '../../core/request/worker-lost.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { type WorkerCall } from '../worker-pool/worker-call.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerReply } from '../worker-pool/worker-task.js';
import { RequestRegistry } from './request-registry.js';
import { RequestCanceller } from './request-canceller.js';
import { RequestFailures } from './request-failures.js';
import { type TrackedRequest } from './tracked-request.js';
import { measuredWork } from './work-usage.js';

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
    private readonly dispatcher: Dispatcher,
    private readonly canceller: RequestCanceller,
    private readonly failures: RequestFailures,
    private readonly clock: ProcessClock,
  ) {}

  run(plan: DispatchPlan): void {
    for (const member of plan.members) this.#begin(plan, member);
  }

  /** Counted when it happens, however the request ends (D-03). */
  promoted(key: RequestKey): void {
    const tracked = this.registry.get(key);
    if (tracked) this.registry.promoted(tracked);
  }

  expired(key: RequestKey): void {
    const tracked = this.registry.get(key);
    if (tracked) this.registry.settle(tracked, this.failures.expired(tracked));
  }

  #begin(plan: DispatchPlan, member: PlannedRequest): void {
    const tracked = this.registry.get(member.request.key);
    const { workerId, groupId, members, reason } = plan;
    const { batchWaitMs } = member;
    const lease = { workerId, groupId, groupSize: members.length, reason, batchWaitMs };
    if (tracked) this.registry.leased(tracked, lease, member.aged);
    // A subscriber to these events may cancel any member: then nothing is sent, and the
    // slot is free again.
    if (tracked?.state !== 'leased') return member.lease.release();
    try {
      this.#send(tracked, plan, member);
    } catch (error) {
      member.lease.release();
      this.#failed(tracked, error);
    }
  }

  #send(tracked: TrackedRequest, plan: DispatchPlan, { lease }: PlannedRequest): void {
    const { workerId, groupId, members, agingShare } = plan;
    const { key, request } = tracked;
    const sentAtMs = this.clock.nowMs();
    const call = this.pool.execute({
      workerId,
      request,
      group: { id: groupId, size: members.length, agingShare },
    });
    tracked.sent(sentAtMs);
    tracked.calls += 1;
    tracked.startDeadline(() => void this.canceller.cancel(key, 'deadline'));
    this.#follow(call, tracked, sentAtMs).catch((error: unknown) =>
      this.#logger.error({ err: error, requestId: tracked.id }, 'settling failed'),
    );
    void call.finished.then(() => {
      this.registry.callEnded(tracked);
      lease.release();
    });
  }

  async #follow(
    call: WorkerCall,
    tracked: TrackedRequest,
    sentAtMs: number,
  ): Promise<void> {
    let reply: WorkerReply;
    try {
      reply = await call.reply;
    } catch (error) {
      return this.#failed(tracked, error, sentAtMs);
    }
    // Also of a request that was cancelled meanwhile: its device time is spent.
    const { request } = tracked;
    const deviceMs = deviceShareMs(reply.execution);
    if (deviceMs !== undefined) {
      const { costs, queue } = this.dispatcher;
      costs.observe(request.model, measuredWork(reply, request.payload), deviceMs);
      queue.measured(request, deviceMs);
    }
    this.registry.settle(tracked, { status: 'completed', reply });
  }

  #failed(tracked: TrackedRequest, error: unknown, sentAtMs = this.clock.nowMs()): void {
    // Settled by a cancel or the deadline: this reply comes too late.
    if (tracked.state !== 'leased') return;
    if (error instanceof WorkerLostError) return this.#lost(tracked, error, sentAtMs);
    if (error instanceof DomainError)
      return void this.registry.settle(tracked, { status: 'failed', error });
    this.#logger.error(
      { err: error, requestId: tracked.id },
      'the call failed without an error code',
    );
    this.registry.settle(tracked, this.failures.unexpected(error));
  }

  #lost(tracked: TrackedRequest, error: WorkerLostError, sentAtMs: number): void {
    // Only waiting counts against the queue deadline, not the time that the lost worker
    // had the request.
    const again = tracked.retry(error, this.clock.nowMs() - sentAtMs);
    if (!again)
      return void this.registry.settle(tracked, this.failures.workerLost(tracked, error));
    const code = countsAsAttempt(error.kind) ? 'worker_lost' : 'shutting_down';
    this.registry.requeued(tracked, code, () => this.dispatcher.queue.restore(again));
  }
}

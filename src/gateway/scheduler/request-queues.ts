import { Injectable } from '@nestjs/common';
import { deviceShareMs } from '../../contracts/grpc/call.codec.js';
import { AnswerTimes } from '../../core/queue/answer-times.js';
import {
  type TimedRequest,
  type WantedDeadline,
  withLatestStart,
} from '../../core/queue/latest-start.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { SharedRequestQueue } from '../shared-queue/shared-request-queue.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';
import { EmbeddedQueue } from './embedded-queue.js';
import { RequestReports } from './request-reports.js';
import { type SettledRequest } from './submitted-request.js';
import { TrackedRequest } from './tracked-request.js';

interface TrackedEntry {
  readonly record: TrackedRequest;
  /** It would miss its deadline. */
  readonly refusal: DomainError | undefined;
}

/**
 * The queues that requests can wait in: the embedded one, and the one that gateways share
 * (`queue.driver`, D-19).
 */
@Injectable()
export class RequestQueues {
  readonly #times = new AnswerTimes();

  constructor(
    readonly shared: SharedRequestQueue,
    readonly embedded: EmbeddedQueue,
    private readonly reports: RequestReports,
    private readonly clock: ProcessClock,
  ) {}

  /** Estimates the cost of a request, chooses its queue and gives it its latest start. */
  track(
    request: ScheduledRequest<WorkerTask>,
    deadlines: readonly WantedDeadline[] = [],
  ): TrackedEntry {
    // The embedded queue accepts whatever the shared one does not.
    const queue = this.shared.accepts(request) ? this.shared : this.embedded;
    const estimated = { ...request, costMs: this.embedded.estimateMs(request) };
    const { request: timed, refusal } = this.#timed(estimated, queue, deadlines);
    const record = new TrackedRequest(timed, queue);
    const predictedMs = this.#times.predictMs(timed, timed.enqueuedAtMs);
    void record.settled.then(settled => this.#learn(timed, settled, predictedMs));
    return { record, refusal };
  }

  /** Undefined: the request is accepted, or its queue reports later whether it is. */
  enqueue({ queue, request }: TrackedRequest): DomainError | undefined {
    return queue.enqueue(request, this.reports);
  }

  #timed(
    request: ScheduledRequest<WorkerTask>,
    queue: TrackedRequest['queue'],
    deadlines: readonly WantedDeadline[] = [],
  ): TimedRequest<WorkerTask> {
    if (deadlines.length === 0) return { request };
    const { model, enqueuedAtMs: nowMs } = request;
    const isIdle = queue.isIdle(model);
    return withLatestStart(request, deadlines, {
      ...this.#times.estimate(request, !isIdle, nowMs),
      // Whatever forecasts have learned from a rush: this one starts at once, and is what
      // they learn from next.
      startMs: timed =>
        isIdle ? 0 : queue.startMs(timed, this.#times.meanMs(model, nowMs)),
    });
  }

  #learn(
    { model, costMs = 1 }: ScheduledRequest<WorkerTask>,
    { settlement, phases: { grpcMs, readyMs } }: SettledRequest,
    predictedMs: number | undefined,
  ): void {
    if (
      settlement.status !== 'completed' ||
      grpcMs === undefined ||
      readyMs === undefined
    )
      return;
    const { reply } = settlement;
    const firstOutputMs = reply.kind === 'generation' ? reply.firstTokenMs : undefined;
    const spent = {
      costMs: deviceShareMs(reply.execution) ?? costMs,
      readyMs,
      computeMs: Math.max(0, grpcMs - readyMs),
    };
    this.#times.observe(
      model,
      { ...spent, firstOutputMs, predictedMs },
      this.clock.nowMs(),
    );
  }
}

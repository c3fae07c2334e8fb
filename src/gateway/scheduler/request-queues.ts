import { Injectable } from '@nestjs/common';
import { deviceShareMs } from '../../contracts/grpc/call.codec.js';
import { type RequestQueuePort } from '../../core/dispatch/request-queue.port.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type TimedRequest, type WantedDeadline, withLatestStart } from '../../core/queue/latest-start.js';
import { AnswerTimes } from '../../core/queue/answer-times.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type DomainError } from '../../core/shared/domain-error.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { SharedRequestQueue } from '../shared-queue/shared-request-queue.js';
import { type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';
import { EmbeddedQueue } from './embedded-queue.js';
import { Forecasts } from './forecasts.js';
import { RequestReports } from './request-reports.js';
import { type SettledRequest } from './submitted-request.js';
import { TrackedRequest } from './tracked-request.js';

interface TrackedEntry {
  readonly tracked: TrackedRequest;
  /** It would miss its deadline. */
  readonly refusal?: DomainError;
}

/** The queues that requests can wait in: the embedded one, and the one that gateways share (`queue.driver`, D-19). */
@Injectable()
export class RequestQueues {
  readonly all: readonly RequestQueuePort<WorkerTask, WorkerReply>[];

  constructor(
    private readonly shared: SharedRequestQueue,
    private readonly embedded: EmbeddedQueue,
    private readonly reports: RequestReports,
    private readonly times: AnswerTimes,
    private readonly forecasts: Forecasts,
    private readonly clock: ProcessClock,
  ) {
    // The embedded queue accepts whatever the shared one does not.
    this.all = [shared, embedded];
  }

  /** Estimates the cost of a request, chooses its queue and gives it its latest start. */
  track(request: ScheduledRequest<WorkerTask>, deadlines: readonly WantedDeadline[] = []): TrackedEntry {
    const estimated = { ...request, costMs: this.embedded.estimateMs(request) };
    const queue = this.#for(estimated);
    const { request: timed, refusal } = this.#timed(estimated, queue, deadlines);
    const tracked = new TrackedRequest(timed, queue);
    const predictedMs = this.times.predictMs(timed, timed.enqueuedAtMs);
    void tracked.settled.then(settled => this.#learn(timed, settled, predictedMs));
    return { tracked, ...(refusal && { refusal }) };
  }

  #timed(
    request: ScheduledRequest<WorkerTask>,
    queue: RequestQueuePort<WorkerTask, WorkerReply>,
    deadlines: readonly WantedDeadline[],
  ): TimedRequest<WorkerTask> {
    if (deadlines.length === 0) return { request };
    const { model, enqueuedAtMs: nowMs } = request;
    const isIdle = queue.isIdle(model);
    const service = this.times.estimate(request, !isIdle, nowMs);
    const startMs = (timed: ScheduledRequest): number => {
      // Whatever forecasts have learned from a rush: this one starts at once, and is what they learn from next.
      if (isIdle) return 0;
      if (queue === this.shared) return this.shared.startMs(timed, this.times.meanMs(model, nowMs));
      return this.forecasts.ofNew(timed, nowMs)?.startInMs.p50 ?? 0;
    };
    return withLatestStart(request, deadlines, { ...service, startMs });
  }

  #learn(
    { model, costMs = 1 }: ScheduledRequest<WorkerTask>,
    { settlement, phases: { grpcMs, readyMs } }: SettledRequest,
    predictedMs: number | undefined,
  ): void {
    if (settlement.status !== 'completed' || grpcMs === undefined || readyMs === undefined) return;
    const { reply } = settlement;
    const firstOutputMs = reply.kind === 'generation' ? reply.firstTokenMs : undefined;
    const spent = {
      costMs: deviceShareMs(reply.execution) ?? costMs,
      readyMs,
      computeMs: Math.max(0, grpcMs - readyMs),
    };
    this.times.observe(model, { ...spent, firstOutputMs, predictedMs }, this.clock.nowMs());
  }

  #for(request: ScheduledRequest<WorkerTask>): RequestQueuePort<WorkerTask, WorkerReply> {
    const queue = this.all.find(candidate => candidate.accepts(request));
    if (!queue) throw new Error(`no queue accepts request ${request.id}`);
    return queue;
  }

  /** Undefined: the request is accepted, or its queue reports later whether it is. */
  enqueue({ queue, request }: TrackedRequest): DomainError | undefined {
    return queue.enqueue(request, this.reports);
  }

  /** True while a worker has the request, also when its caller has been answered. */
  isLeased(key: RequestKey): boolean {
    return this.all.some(queue => queue.isLeased(key));
  }
}

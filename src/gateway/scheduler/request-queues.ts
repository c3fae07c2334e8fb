import { Injectable } from '@nestjs/common';
import { deviceShareMs } from '../../contracts/grpc/call.codec.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { AnswerTimes } from '../../core/queue/answer-times.js';
import { type CostModel } from '../../core/queue/cost-model.js';
import { type WantedDeadline, withLatestStart } from '../../core/queue/latest-start.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { SharedRequestQueue } from '../shared-queue/shared-request-queue.js';
import { type TaskRequest } from '../worker-pool/worker-task.js';
import { EmbeddedQueue } from './embedded-queue.js';
import { RequestReports } from './request-reports.js';
import { type SettledRequest } from './submitted-request.js';
import { TrackedRequest } from './tracked-request.js';

/**
 * The queues that requests can wait in: the embedded one, and the one that gateways share
 * (`queue.driver`, D-19).
 */
@Injectable()
export class RequestQueues {
  readonly costs: CostModel;
  readonly #times = new AnswerTimes();

  constructor(
    readonly shared: SharedRequestQueue,
    readonly embedded: EmbeddedQueue,
    readonly reports: RequestReports,
    dispatcher: Dispatcher,
    private readonly clock: ProcessClock,
  ) {
    this.costs = dispatcher.costs;
  }

  /**
   * Chooses the queue of a request and gives it its latest start.
   * @returns its record, and the refusal if it would miss its deadline
   */
  track(request: TaskRequest, deadlines: readonly WantedDeadline[] = []) {
    // The embedded queue accepts whatever the shared one does not.
    const queue = this.shared.accepts(request) ? this.shared : this.embedded;
    const { request: timed, refusal } =
      deadlines.length === 0 ? { request } : this.#timed(request, queue, deadlines);
    const record = new TrackedRequest(timed, queue);
    void this.#learn(timed, record.settled);
    return { record, refusal };
  }

  /** Of the shared queue what this gateway has there. */
  isIdle(model: string): boolean {
    return (this.shared.enabled ? this.shared : this.embedded).isIdle(model);
  }

  #timed(
    request: TaskRequest,
    queue: TrackedRequest['queue'],
    deadlines: readonly WantedDeadline[],
  ) {
    const { model, enqueuedAtMs: nowMs } = request;
    const isIdle = queue.isIdle(model);
    return withLatestStart(request, deadlines, {
      ...this.#times.estimate(request, !isIdle, nowMs),
      // Whatever forecasts have learned from a rush: this one starts at once, and is what
      // they learn from next.
      startMs: timed => (isIdle ? 0 : queue.startMs(timed, this.#times.meanMs(model, nowMs))),
    });
  }

  async #learn(request: TaskRequest, settled: Promise<SettledRequest>): Promise<void> {
    const { model, enqueuedAtMs, costMs } = request;
    const predictedMs = this.#times.predictMs(request, enqueuedAtMs);
    const { settlement, phases } = await settled;
    const { grpcMs, readyMs } = phases;
    if (settlement.status !== 'completed') return;
    if (grpcMs === undefined || readyMs === undefined) return;
    const { reply } = settlement;
    const measured = {
      costMs: deviceShareMs(reply.execution) ?? costMs,
      readyMs,
      computeMs: Math.max(0, grpcMs - readyMs),
      firstOutputMs: reply.kind === 'generation' ? reply.firstTokenMs : undefined,
      predictedMs,
    };
    this.#times.observe(model, measured, this.clock.nowMs());
  }
}

import { Injectable } from '@nestjs/common';
import { deviceShareMs } from '@switchyard/worker-protocol/call.codec.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { type WantedDeadline, withLatestStart } from '../../core/queue/latest-start.js';
import { type TaskRequest } from '../../worker-client/worker-task.js';
import { type QueueDepth } from '../registry/request-queue.port.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type SettledRequest } from '../registry/submitted-request.js';
import { TrackedRequest } from '../registry/tracked-request.js';
import { workSizeOf } from '../registry/work-usage.js';
import { SharedRequestQueue } from '../shared-queue/shared-request-queue.js';
import { EmbeddedQueue } from './embedded-queue.js';

/**
 * The queues that requests can wait in: the embedded one, and the one that gateways share
 * (`queue.driver`, D-19).
 */
@Injectable()
export class RequestQueues {
  constructor(
    readonly shared: SharedRequestQueue,
    readonly embedded: EmbeddedQueue,
    private readonly registry: RequestRegistry,
    private readonly times: ServiceTimes,
  ) {}

  /** Estimated device milliseconds of a request. */
  costMs({ model, payload }: Pick<TaskRequest, 'model' | 'payload'>): number {
    return this.times.of(model).costs.estimateMs(workSizeOf(payload));
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

  /**
   * Of every configured model, over all gateways that share a queue; bytes are those of
   * this gateway.
   */
  async depths(): Promise<(QueueDepth & { readonly bytes: number })[]> {
    // At this instant, as the other metrics of a scrape are read.
    const own = this.embedded.depths();
    const bytes = this.waitingBytes();
    const all = [...(await this.shared.depths()), ...own];
    return own.map(({ model }) => {
      const depths = all.filter(depth => depth.model === model);
      const sum = (count: (depth: QueueDepth) => number) =>
        depths.reduce((total, depth) => total + count(depth), 0);
      const waits = depths.flatMap(({ oldestWaitMs }) => oldestWaitMs ?? []);
      return {
        model,
        realtime: sum(({ realtime }) => realtime),
        batch: sum(({ batch }) => batch),
        bytes: bytes.get(model) ?? 0,
        running: sum(({ running }) => running),
        oldestWaitMs: waits.length === 0 ? undefined : Math.max(...waits),
      };
    });
  }

  /** Bytes held by waiting requests of this gateway, by configured model. */
  waitingBytes(): ReadonlyMap<string, number> {
    const bytes = new Map(this.embedded.models.map(({ id }) => [id, 0]));
    for (const { model, request, state } of this.registry.live()) {
      if (state === 'queued') bytes.set(model, (bytes.get(model) ?? 0) + request.bytes);
    }
    return bytes;
  }

  /** A request that comes now finds nothing else of the model, at no gateway. */
  isIdle(model: string): boolean {
    const { shared, embedded } = this;
    if (!shared.enabled) return embedded.isIdle(model);
    return shared.elsewhere.areNone(model) && shared.isIdle(model);
  }

  #timed(
    request: TaskRequest,
    queue: TrackedRequest['queue'],
    deadlines: readonly WantedDeadline[],
  ) {
    const { model, enqueuedAtMs: nowMs } = request;
    const isIdle = queue.isIdle(model);
    const { answers } = this.times.of(model);
    return withLatestStart(request, deadlines, {
      ...answers.estimate(request, !isIdle, nowMs),
      // Whatever forecasts have learned from a rush: this one starts at once, and is what
      // they learn from next.
      startMs: timed => (isIdle ? 0 : queue.startMs(timed, answers.meanMs(nowMs))),
    });
  }

  async #learn(request: TaskRequest, settled: Promise<SettledRequest>): Promise<void> {
    const { model, enqueuedAtMs, costMs } = request;
    const { answers } = this.times.of(model);
    const predictedMs = answers.predictMs(request, enqueuedAtMs);
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
    answers.observe(measured, this.registry.nowMs());
  }
}

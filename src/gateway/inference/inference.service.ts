import { Injectable } from '@nestjs/common';
import { fieldsIn } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply } from 'fastify';
import { type ServiceTier } from '../../contracts/openai/field-types.js';
import { classIn } from '../../contracts/openai/ignored-fields.js';
import { type KeyTerms } from '../../core/access/key-terms.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { demandModel } from '../../platform/auth/principal.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { ActiveTimeout } from '../../platform/process/active-timeout.js';
import { traceparentIn } from '../../platform/tracing/tracing.module.js';
import { type TranscribeTask, type WorkerReply } from '../../worker-client/worker-task.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { watchDisconnect } from '../cancellation/disconnect-watch.js';
import { type RequestTimings } from '../latency/answer-headers.js';
import { type RequestSpec, type SettledRequest } from '../registry/submitted-request.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { RequestIntake } from '../scheduler/request-intake.js';
import { Suspects } from '../scheduler/suspects.js';
import { InferenceMetrics } from './inference.metrics.js';
import { type OutputStream } from './output-stream.js';
import { requestDeadlines, wantedDeadlines } from './request-deadlines.js';
import { requestPriority } from './service-tier.js';

/**
 * Calls `onSilence` once when no output came for `limitMs`, counted from the first output
 * on, unless `excused` then. Each output restarts it.
 */
export function silenceTimeout(
  limitMs: number,
  onSilence: () => void,
  excused: () => boolean,
): ActiveTimeout {
  const timer = new ActiveTimeout(limitMs, () => (excused() ? timer.restart() : onSilence()));
  return timer;
}

/** Who asks: an HTTP request, or a live session. */
export interface InferenceCaller extends Pick<
  RequestSpec,
  'id' | 'priority' | 'traceparent' | 'route'
> {
  readonly tenant: string;
  /** Terms of the caller's key; absent: no terms apply. */
  readonly terms?: KeyTerms | undefined;
  /** Only of a request with `reply`; what is left of them is computed when it is submitted. */
  readonly deadlines?: Parameters<typeof wantedDeadlines>[0];
  /**
   * The request is cancelled when this connection closes early; absent: the caller
   * cancels by itself.
   */
  readonly reply?: FastifyReply;
}

export interface HttpCaller extends InferenceCaller {
  readonly reply: FastifyReply;
}

interface InferenceOptions {
  /**
   * Receives the output while the worker makes it; absent: the whole answer is
   * in the reply.
   */
  readonly output?: OutputStream;
  /** Longest pause between two pieces of output, milliseconds; absent: unlimited. */
  readonly idleMs?: number;
}

/**
 * @param model whose default priority holds where neither request nor key states one
 * @throws DomainError `invalid_value` for a header `X-Priority`, `X-Deadline-Ms` or
 *   `x-slo-ttft-ms` with another value.
 */
export function httpCaller(
  reply: FastifyReply,
  { tier, model }: { readonly tier: ServiceTier; readonly model: ModelSpec },
): HttpCaller {
  const { request } = reply;
  const { tenant, terms } = principalOf(request);
  const usual = terms?.defaultPriority ?? model.defaultPriority;
  const { priority: named } = fieldsIn(request.body);
  const priority = requestPriority(request.headers['x-priority'] ?? classIn(named), tier, usual);
  const deadlines = requestDeadlines(request.headers, terms);
  const traceparent = traceparentIn(request.headers);
  const route = request.routeOptions.url;
  return { id: request.id, tenant, terms, priority, traceparent, route, deadlines, reply };
}

/**
 * Runs a request on a worker: submits it, cancels it when its caller disconnects, and
 * reports its output to metrics.
 */
@Injectable()
export class InferenceService {
  constructor(
    private readonly intake: RequestIntake,
    private readonly cancellations: CancellationManager,
    private readonly metrics: InferenceMetrics,
    private readonly clock: ProcessClock,
    private readonly suspects: Suspects,
  ) {}

  /** @throws DomainError `worker_crashed` for audio that ended an engine of the model lately (D-51) */
  demandHarmless(model: string, audio: TranscribeTask['audio']): Promise<void> {
    return this.suspects.demandHarmlessAudio(model, audio);
  }

  /**
   * @throws DomainError what `RequestIntake.submit` throws, or `model_not_found` for a
   *   model that the key may not
   * use.
   */
  start(
    { reply, terms, deadlines = [], ...caller }: InferenceCaller,
    work: Omit<RequestSpec, keyof InferenceCaller>,
    options: InferenceOptions = {},
  ): InferenceRequest {
    demandModel(terms, work.model);
    const timed = reply && deadlines.length > 0;
    const isStream = options.output !== undefined;
    const record = this.intake.submit({
      ...caller,
      ...work,
      ...(timed && { deadlines: wantedDeadlines(deadlines, reply, isStream) }),
      ...(terms && { keyId: terms.key }),
    });
    const cancel = (reason: CancelReason): void => void this.cancellations.cancel(record, reason);
    void this.#watch(record, cancel, { ...options, reply });
    return new InferenceRequest(record, options.output, cancel);
  }

  /**
   * Reports its output to metrics, and cancels it when its caller disconnects or no output
   * came for `idleMs`. Resolves when it has ended.
   */
  async #watch(
    record: TrackedRequest,
    cancel: (reason: CancelReason) => void,
    { output, idleMs, reply }: InferenceOptions & Pick<InferenceCaller, 'reply'>,
  ): Promise<void> {
    let silence: ActiveTimeout | undefined;
    if (output) {
      if (idleMs !== undefined)
        silence = silenceTimeout(
          idleMs,
          () => cancel('silence'),
          () => output.writableNeedDrain,
        );
      output.onOutput = () => {
        this.#output(record, output.writableNeedDrain);
        silence?.restart();
      };
    }
    const unwatch = reply && watchDisconnect(reply, () => cancel('disconnect'));
    const settled = await record.settled;
    const { settlement } = settled;
    const ttftMs = firstTokenMs(settled);
    if (record.firstOutputAtMs === undefined && ttftMs !== undefined)
      this.metrics.firstOutput(record, ttftMs);
    const afterMs = this.clock.nowMs() - record.request.enqueuedAtMs;
    this.metrics.settled(record, settlement, afterMs);
    unwatch?.();
    silence?.stop();
    if (settlement.status !== 'completed') output?.fail(settlement.error);
  }

  /** @param held the caller reads slowly, so the gap says nothing about the worker */
  #output(record: TrackedRequest, held: boolean): void {
    const nowMs = this.clock.nowMs();
    const lastMs = record.wrote(nowMs);
    if (lastMs === undefined) this.metrics.firstOutput(record, nowMs - record.request.enqueuedAtMs);
    else if (!held) this.metrics.nextOutput(record, nowMs - lastMs);
  }
}

/** A request that the scheduler accepted. */
export class InferenceRequest {
  readonly settled: Promise<SettledRequest>;

  constructor(
    private readonly record: TrackedRequest,
    private readonly output: OutputStream | undefined,
    readonly cancel: (reason: CancelReason) => void,
  ) {
    this.settled = record.settled;
  }

  /**
   * Waits for the whole answer.
   * @throws DomainError when the request failed or was cancelled.
   */
  async answer<K extends WorkerReply['kind']>(kind: K) {
    const settled = await this.settled;
    const { settlement } = settled;
    if (settlement.status !== 'completed') throw settlement.error;
    const { reply } = settlement;
    if (reply.kind !== kind)
      throw new Error(`the worker answered with ${reply.kind} instead of ${kind}`);
    const { execution } = reply;
    const ttftMs = firstTokenMs(settled);
    const timings: RequestTimings = { ...settled, execution, ttftMs };
    return { reply: reply as Extract<WorkerReply, { readonly kind: K }>, timings };
  }

  /**
   * Waits for the first output, or the end of an answer without any. @returns what is
   * known by then: the time in the queue, but not the end.
   * @throws DomainError when the request failed or was cancelled before.
   */
  async firstOutput(): Promise<RequestTimings & { readonly firstOutputMs: number | undefined }> {
    const { output, record, settled } = this;
    const ended = await Promise.race([output?.started ?? settled, settled]);
    if (ended && ended.settlement.status !== 'completed') throw ended.settlement.error;
    const { firstOutputAtMs, request, phases } = record;
    const firstOutputMs =
      firstOutputAtMs === undefined ? firstTokenMs(record) : firstOutputAtMs - request.enqueuedAtMs;
    return { phases, firstOutputMs };
  }
}

/**
 * Milliseconds from acceptance to the first token of a whole answer; undefined where the
 * engine does not report it.
 */
function firstTokenMs({
  settlement,
  phases,
}: Pick<TrackedRequest, 'settlement' | 'phases'>): number | undefined {
  if (settlement?.status !== 'completed' || settlement.reply.kind !== 'generation')
    return undefined;
  const { firstTokenMs: computedMs, execution } = settlement.reply;
  return computedMs === undefined
    ? undefined
    : (phases.queueWaitMs ?? 0) + execution.readyWaitMs + computedMs;
}

import { Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type ServiceTier } from '../../contracts/openai/field-rules.js';
import { type KeyTerms } from '../../core/access/key-terms.js';
import { type LatencyPhases } from '../../core/dispatch/dispatch-event.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { demandModel } from '../../platform/auth/principal.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { traceparentIn } from '../../platform/tracing/tracing.module.js';
import { type RequestTimings } from '../http/answer-headers.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { type RequestSpec, type SettledRequest } from '../scheduler/submitted-request.js';
import { type WorkerReply } from '../worker-pool/worker-task.js';
import { watchDisconnect } from './disconnect-watch.js';
import { firstTokenMs, InferenceSessions } from './inference-sessions.js';
import { type OutputStream } from './output-stream.js';
import { type CallerDeadline, requestDeadlines, wantedDeadlines } from './request-deadlines.js';
import { requestPriority } from './request-priority.js';
import { SilenceWatch } from './silence-watch.js';

/** Who asks: an HTTP request, or a live session. */
export interface InferenceCaller extends Pick<RequestSpec, 'id' | 'priority' | 'traceparent'> {
  readonly tenant: string;
  /** Of the caller's key; absent: none hold. */
  readonly terms?: KeyTerms | undefined;
  /** Only of a request with `reply`. */
  readonly deadlines?: readonly CallerDeadline[];
  /** The request is cancelled when this connection closes early; absent: the caller cancels by itself. */
  readonly reply?: FastifyReply;
}

/** What is asked: the model, its input, and what the scheduler needs to know about it. */
export type InferenceWork = Omit<RequestSpec, keyof InferenceCaller>;

interface InferenceOptions {
  /** Receives the output while the worker makes it; absent: the whole answer is in the reply. */
  readonly output?: OutputStream;
  /** Longest pause between two pieces of output, milliseconds; absent: unlimited. */
  readonly idleMs?: number;
}

/**
 * @param model whose default priority holds where neither request nor key states one
 * @throws DomainError `invalid_value` for a header `X-Priority`, `X-Deadline-Ms` or `x-slo-ttft-ms` with another value.
 */
export function httpCaller(
  request: FastifyRequest,
  reply: FastifyReply,
  { tier, model }: { readonly tier: ServiceTier; readonly model: ModelSpec },
): InferenceCaller {
  const { tenant, terms } = principalOf(request);
  const usual = terms?.defaultPriority ?? model.defaultPriority;
  const priority = requestPriority(request.headers['x-priority'], tier, usual);
  const deadlines = requestDeadlines(request.headers, terms);
  const traceparent = traceparentIn(request.headers);
  return { id: request.id, tenant, terms, priority, traceparent, deadlines, reply };
}

/**
 * Runs a request on a worker: submits it, cancels it when its caller disconnects, and reports its output to metrics.
 */
@Injectable()
export class InferenceService {
  constructor(
    private readonly scheduler: SchedulerService,
    private readonly sessions: InferenceSessions,
  ) {}

  /**
   * @throws DomainError what `SchedulerService.submit` throws, or `model_not_found` for a model that the key may not
   * use.
   */
  start(
    { reply, terms, deadlines = [], ...caller }: InferenceCaller,
    work: InferenceWork,
    options: InferenceOptions = {},
  ): InferenceRequest {
    demandModel(terms, work.model);
    const { output, idleMs } = options;
    const session = this.sessions.open(work.model, work.payload.kind);
    const cancel = (reason: CancelReason): void => void this.scheduler.cancel(submitted, reason);
    const silence =
      output && idleMs !== undefined
        ? new SilenceWatch(
            idleMs,
            () => cancel('silence'),
            () => output.held,
          )
        : undefined;
    if (output) {
      output.onOutput = () => {
        session.output(output.held);
        submitted.outputSent();
        silence?.restart();
      };
    }
    const timed = reply && { deadlines: wantedDeadlines(deadlines, reply, output !== undefined) };
    const submitted = this.scheduler.submit({ ...caller, ...work, ...timed, ...(terms && { keyId: terms.key }) });
    this.sessions.follow(session, submitted, work.model);
    const unwatch = reply && watchDisconnect(reply, () => cancel('disconnect'));
    void submitted.settled.then(({ settlement }) => {
      unwatch?.();
      silence?.stop();
      if (settlement.status !== 'completed') output?.fail(settlement.error);
    });
    const phases = (): LatencyPhases => this.scheduler.find(submitted)?.phases ?? {};
    return new InferenceRequest({ settled: submitted.settled, output, cancel, phases, session });
  }
}

interface InferenceRequestParts {
  readonly settled: Promise<SettledRequest>;
  readonly output: OutputStream | undefined;
  readonly cancel: (reason: CancelReason) => void;
  readonly phases: () => LatencyPhases;
  readonly session: { readonly firstOutputMs: number | undefined };
}

/** A request that the scheduler accepted. */
export class InferenceRequest {
  readonly settled: Promise<SettledRequest>;

  constructor(private readonly parts: InferenceRequestParts) {
    this.settled = parts.settled;
  }

  cancel(reason: CancelReason): void {
    this.parts.cancel(reason);
  }

  /**
   * Waits for the whole answer.
   * @throws DomainError when the request failed or was cancelled.
   */
  async answer<K extends WorkerReply['kind']>(kind: K): Promise<InferenceAnswer<K>> {
    const settled = await this.settled;
    const { settlement } = settled;
    if (settlement.status !== 'completed') throw settlement.error;
    const { reply } = settlement;
    if (!isOfKind(reply, kind)) throw new Error(`the worker answered with ${reply.kind} instead of ${kind}`);
    return { reply, timings: { ...settled, ttftMs: firstTokenMs(settled) } };
  }

  /**
   * Waits for the first output, or the end of an answer without any. @returns what is known by then: the time in the
   * queue, but not the end.
   * @throws DomainError when the request failed or was cancelled before.
   */
  async firstOutput(): Promise<RequestTimings & { readonly firstOutputMs: number | undefined }> {
    const { output, settled, phases, session } = this.parts;
    const ended = await Promise.race([output?.started ?? settled, settled]);
    if (ended && ended.settlement.status !== 'completed') throw ended.settlement.error;
    return { phases: ended?.phases ?? phases(), firstOutputMs: session.firstOutputMs };
  }
}

interface InferenceAnswer<K extends WorkerReply['kind']> {
  readonly reply: Extract<WorkerReply, { readonly kind: K }>;
  readonly timings: RequestTimings;
}

const isOfKind = <K extends WorkerReply['kind']>(
  reply: WorkerReply,
  kind: K,
): reply is Extract<WorkerReply, { readonly kind: K }> => reply.kind === kind;

import { Logger } from '@nestjs/common';
import { type AttemptCount, type RetryLimits } from '../../core/jobs/retry-policy.js';
import { mayUse } from '../../platform/auth/principal.js';
import { type InputLines, lineParts } from '../job/input-lines.js';
import { type JobClaim } from '../job/result-files.js';
import { type LineMetrics } from '../observe/line.metrics.js';
import { type AudioUpload, LineProblem } from './audio-upload.js';
import { type LineLane, type LineTicket } from './line-dispatcher.js';
import { type Answer } from './line-reply.js';
import { prepareLine } from './line-request.js';
import {
  type LineResult,
  resultOf,
  type SpeechAudio,
  unanswered,
} from './line-result.js';
import { type LineTarget } from './line-target.js';
import {
  failureCauseOf,
  isGood,
  isOverloaded,
  type TargetState,
  verdictOn,
} from './line-verdict.js';
import { type TargetResolver } from './target-resolver.js';

export interface Attempt {
  readonly claim: JobClaim;
  readonly lane: LineLane;
  readonly ticket: LineTicket;
  readonly input: InputLines;
  readonly signal: AbortSignal;
}

export type AttemptOutcome =
  | { readonly kind: 'result'; readonly result: LineResult }
  | { readonly kind: 'again'; readonly tried: AttemptCount; readonly afterMs: number };

/** Makes one attempt at one line: read, send, decide. */
export class LineSender {
  readonly #logger = new Logger('BatchTargets');

  constructor(
    private readonly targets: TargetResolver,
    private readonly audio: AudioUpload,
    private readonly speech: SpeechAudio,
    private readonly metrics: Pick<LineMetrics, 'attempted' | 'retried' | 'settled'>,
  ) {}

  /** @throws the signal's reason, or the error of a disk or store */
  async attempt(attempt: Attempt): Promise<AttemptOutcome> {
    const { claim, lane, ticket, input, signal } = attempt;
    const { job } = claim;
    const parts = lineParts(await input.read(ticket.entry));
    const target = this.targets.targetOf(lane.model);
    if (!target)
      return result(
        unanswered(
          parts.customIdJson,
          'model_not_found',
          'No target is configured for this model.',
          'model',
        ),
      );
    // The gateway checks its own models, aliases included.
    if (!target.spec.fetchesFileUrl && !mayUse(job.terms, lane.model))
      return result(
        unanswered(
          parts.customIdJson,
          'model_not_found',
          'The API key of this batch may not use this model.',
          'model',
        ),
      );
    try {
      const prepared = await prepareLine({
        job,
        parts,
        audio: this.audio,
        fetchesFileUrl: target.spec.fetchesFileUrl,
        signal,
      });
      const startedMs = performance.now();
      const isProbe = lane.gate.isAway;
      const requestId = `${job.id}-${ticket.index}`;
      const answer = await target.exchange({
        ...prepared.request,
        requestId,
        owner: job,
        signal,
      });
      this.metrics.attempted(lane.model, (performance.now() - startedMs) / 1000);
      this.#updateGate(lane, target, answer);
      const again = this.#decide(answer, attempt, {
        limits: target.spec.retries,
        isProbe,
      });
      if (again) return again;
      const { wantsBase64 } = prepared;
      const settled = await resultOf(answer, {
        claim,
        parts,
        wantsBase64,
        speech: this.speech,
      });
      this.metrics.settled(lane.model, settled.kind === 'O', settled.usage);
      return result(settled);
    } catch (error) {
      if (error instanceof LineProblem)
        return result(
          unanswered(parts.customIdJson, error.code, error.message, error.param),
        );
      throw error;
    }
  }

  /** @returns undefined if the answer is the line's result */
  #decide(
    answer: Answer,
    { claim: { job }, lane, ticket }: Attempt,
    { limits, isProbe }: { limits: RetryLimits } & Pick<TargetState, 'isProbe'>,
  ): AttemptOutcome | undefined {
    const clock = { nowMs: Date.now(), deadlineMs: job.expiresAtMs };
    const { answers } = lane.gate;
    const verdict = verdictOn(answer, {
      tried: ticket.tried,
      limits,
      answers,
      isProbe,
      ...clock,
    });
    if (verdict.kind === 'settle') return undefined;
    this.metrics.retried(lane.model, reasonOf(answer));
    return verdict;
  }

  /**
   * Adjusts the slots of the model to the answer; while all addresses of the target are
   * unreachable, lines wait.
   */
  #updateGate({ gate, model }: LineLane, target: LineTarget, answer: Answer): void {
    const nowMs = performance.now();
    const waitMs = answer.kind === 'answer' ? answer.retryAfterMs : undefined;
    if (failureCauseOf(answer) === 'away') {
      if (answer.kind === 'answer') gate.overloaded(nowMs);
      if (target.isReachable(nowMs)) return;
      if (gate.failed(nowMs, waitMs))
        this.#logger.warn(
          { model, target: target.name, reason: reasonOf(answer) },
          'target unreachable; its lines wait',
        );
      return;
    }
    if (answer.kind !== 'transport' && gate.answered())
      this.#logger.log({ model, target: target.name }, 'target reachable again');
    if (isOverloaded(answer)) gate.overloaded(nowMs, waitMs);
    else if (isGood(answer)) gate.succeeded();
  }
}

const result = (line: LineResult): AttemptOutcome => ({ kind: 'result', result: line });

const reasonOf = (answer: Answer): string =>
  answer.kind === 'answer'
    ? String(answer.status)
    : answer.kind === 'transport'
      ? answer.cause
      : answer.kind;

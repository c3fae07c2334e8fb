import { Logger } from '@nestjs/common';
import type { TokenUsage } from '../../core/jobs/batch-job.js';
import type { AttemptCount, RetryLimits } from '../../core/jobs/retry-policy.js';
import type { InputLines } from '../job/input-lines.js';
import type { Maker } from '../job/result-files.js';
import { type AudioUpload, LineProblem } from './audio-upload.js';
import type { LineLane, LineTicket } from './line-dispatcher.js';
import type { Answer } from './line-reply.js';
import { lineParts, prepareLine } from './line-request.js';
import { type LineResult, resultOf, type SpeechAnswer, unanswered } from './line-result.js';
import type { LineTarget } from './line-target.js';
import { failureCauseOf, isGood, isTrouble, type TargetStanding, verdictOn } from './line-verdict.js';
import type { TargetResolver } from './target-resolver.js';

export interface Attempt {
  readonly maker: Maker;
  readonly lane: LineLane;
  readonly ticket: LineTicket;
  readonly input: InputLines;
  readonly signal: AbortSignal;
}

export type AttemptOutcome =
  | { readonly kind: 'result'; readonly result: LineResult }
  | { readonly kind: 'again'; readonly tried: AttemptCount; readonly afterMs: number };

/** What metrics and logs want to know of lines. */
export interface LineEvents {
  attempted(model: string, seconds: number): void;
  retried(model: string, reason: string): void;
  /** It has its line in a result file, after an attempt. */
  settled(model: string, good: boolean, usage: TokenUsage | undefined): void;
}

/** One attempt at one line: read, send, judge. */
export class LineSender {
  readonly #logger = new Logger('BatchTargets');

  constructor(
    private readonly targets: TargetResolver,
    private readonly audio: AudioUpload,
    private readonly speech: SpeechAnswer,
    private readonly events: LineEvents,
  ) {}

  /** @throws the signal's reason, or what the disk or a store said */
  async attempt(attempt: Attempt): Promise<AttemptOutcome> {
    const { maker, lane, ticket, input, signal } = attempt;
    const { job } = maker;
    const parts = lineParts(await input.read(ticket.entry));
    const target = this.targets.targetOf(lane.model);
    if (!target)
      return result(unanswered(parts.customIdJson, 'model_not_found', `No target is listed for the model.`, 'model'));
    try {
      const prepared = await prepareLine({
        job,
        parts,
        audio: this.audio,
        takesFileUrl: target.spec.takesFileUrl,
        signal,
      });
      const startedMs = performance.now();
      const isProbe = lane.gate.isAway;
      const requestId = `${job.id}-${ticket.index}`;
      const answer = await target.exchange({ ...prepared.request, requestId, tenant: job.tenant, signal });
      this.events.attempted(lane.model, (performance.now() - startedMs) / 1000);
      this.#tell(lane, target, answer);
      const again = this.#judge(answer, attempt, { limits: target.spec.retries, isProbe });
      if (again) return again;
      const { wantsBase64 } = prepared;
      const settled = await resultOf(answer, { maker, parts, wantsBase64, speech: this.speech });
      this.events.settled(lane.model, settled.kind === 'O', settled.usage);
      return result(settled);
    } catch (error) {
      if (error instanceof LineProblem)
        return result(unanswered(parts.customIdJson, error.code, error.message, error.param));
      throw error;
    }
  }

  /** @returns undefined: the answer is the line's result */
  #judge(
    answer: Answer,
    { maker: { job }, lane, ticket }: Attempt,
    { limits, isProbe }: { limits: RetryLimits } & Pick<TargetStanding, 'isProbe'>,
  ): AttemptOutcome | undefined {
    const clock = { nowMs: Date.now(), deadlineMs: job.expiresAtMs };
    const { answers } = lane.gate;
    const verdict = verdictOn(answer, { tried: ticket.tried, limits, answers, isProbe, ...clock });
    if (verdict.kind === 'settle') return undefined;
    this.events.retried(lane.model, reasonOf(answer));
    return verdict;
  }

  /** The model's slots follow how its target stands; while all its addresses are away, lines wait. */
  #tell({ gate, model }: LineLane, target: LineTarget, answer: Answer): void {
    const nowMs = performance.now();
    const waitMs = answer.kind === 'answer' ? answer.retryAfterMs : undefined;
    if (failureCauseOf(answer) === 'away') {
      if (answer.kind === 'answer') gate.troubled(nowMs);
      if (target.isReachable(nowMs)) return;
      if (gate.away(nowMs, waitMs))
        this.#logger.warn(
          { model, target: target.name, reason: reasonOf(answer) },
          'the target is away; its lines wait',
        );
      return;
    }
    if (answer.kind !== 'transport' && gate.answered())
      this.#logger.log({ model, target: target.name }, 'the target is back');
    if (isTrouble(answer)) gate.troubled(nowMs, waitMs);
    else if (isGood(answer)) gate.succeeded();
  }
}

const result = (line: LineResult): AttemptOutcome => ({ kind: 'result', result: line });

const reasonOf = (answer: Answer): string =>
  answer.kind === 'answer' ? String(answer.status) : answer.kind === 'transport' ? answer.cause : answer.kind;

import { Injectable, Logger } from '@nestjs/common';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type BatchJob, isSpeech } from '../../core/jobs/batch-job.js';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { type AttemptCount, retryAfter, type RetryLimits } from '../../core/jobs/retry-policy.js';
import { mayUse } from '../../platform/auth/principal.js';
import { Settings } from '../../platform/config/settings.js';
import { FileStore } from '../../platform/database/file-store.js';
import { SafeFetch } from '../../platform/http/safe-fetch.js';
import { type InputLines, lineParts, type LineParts } from '../job/input-lines.js';
import { type JobClaim, ResultFiles } from '../job/result-files.js';
import { LineMetrics } from '../observe/job.metrics.js';
import { audioForm, LineProblem } from './audio-upload.js';
import { type LineLane, type LineTicket } from './line-lane.js';
import { type Answer, askedMs, failureCauseOf, isGood } from './line-reply.js';
import { resultOf, unanswered } from './line-result.js';
import { type LineContent, type LineTarget } from './line-target.js';
import { TargetResolver } from './target-resolver.js';

const AUDIO_IN = /^\/v1\/audio\/(transcriptions|translations)$/;

/**
 * What is sent of a line, and how its answer is stored. Bodies are sent unchanged,
 * except: audio becomes a form, speech loses `response_encoding`. @throws LineProblem
 */
function prepareLine(
  job: BatchJob,
  { body }: LineParts,
  audioForm: (fields: Fields) => Promise<LineContent>,
) {
  if (AUDIO_IN.test(job.endpoint))
    return audioForm(parsed(body)).then(content => ({ content, wantsBase64: false }));
  if (!isSpeech(job)) return { content: json(body), wantsBase64: false };
  const { response_encoding: encoding, ...speech } = parsed(body);
  return {
    content: json(Buffer.from(writeJson(speech))),
    wantsBase64: encoding === 'base64',
  };
}

const json = (bytes: Buffer): LineContent => ({
  contentType: 'application/json',
  bytes: bytes.length,
  body: () => bytes,
});

const parsed = (body: Buffer): Fields => parseBoundedJson(body.toString()) as Fields;

/** The line is sent once more. */
interface NextAttempt {
  readonly kind: 'again';
  readonly tried: AttemptCount;
  readonly afterMs: number;
}

interface VerdictContext {
  readonly tried: AttemptCount;
  readonly limits: RetryLimits;
  /** Answers of the target so far. */
  readonly answers: number;
  /** The line was sent as a probe of an unreachable target. */
  readonly isProbe: boolean;
  /** Wall-clock time, like the job's deadline. */
  readonly nowMs: number;
  readonly deadlineMs: number;
}

/** Decides whether a line is retried; undefined: it settles. */
export function verdictOn(answer: Answer, context: VerdictContext): NextAttempt | undefined {
  const { tried, limits, answers, nowMs, deadlineMs } = context;
  const cause = isBrokenByLine(answer, context) ? 'line' : failureCauseOf(answer);
  if (!cause) return undefined;
  const count = {
    ...tried,
    failed: tried.failed + (cause === 'line' || cause === 'final' ? 1 : 0),
    busy: tried.busy + (cause === 'busy' ? 1 : 0),
    ...(isLost(answer) && { lostAt: answers }),
  };
  const clock = { nowMs, deadlineMs, random: Math.random };
  const afterMs = retryAfter({ cause, askedMs: askedMs(answer) }, count, limits, clock);
  return afterMs === undefined ? undefined : { kind: 'again', tried: count, afterMs };
}

/**
 * True if the line itself broke the connection: it was sent as a probe, or the target
 * answered other lines between two losses of this one. Such a line must not crash its
 * target again and again until the deadline.
 */
const isBrokenByLine = (
  answer: Answer,
  { tried: { lostAt = Infinity }, isProbe, answers }: VerdictContext,
): boolean => isLost(answer) && (isProbe || answers > lostAt);

const isLost = (answer: Answer): boolean => answer.kind === 'transport' && answer.cause === 'lost';

interface Attempt {
  readonly claim: JobClaim;
  readonly lane: LineLane;
  readonly ticket: LineTicket;
  readonly input: InputLines;
  readonly signal: AbortSignal;
}

/** Makes one attempt at one line: read, send, decide. */
@Injectable()
export class LineSender {
  readonly #logger = new Logger('BatchTargets');
  readonly #sources: Parameters<typeof audioForm>[1];

  constructor(
    private readonly targets: TargetResolver,
    private readonly results: ResultFiles,
    private readonly metrics: LineMetrics,
    { fetch, server }: Settings,
    files: FileStore,
    blobs: BlobStore,
  ) {
    const { timeoutMs, allowHosts } = fetch;
    const rules = { timeoutMs, allowHosts, maxBytes: server.uploadLimitBytes };
    this.#sources = { files, blobs, fetch: new SafeFetch(rules) };
  }

  /** @throws the signal's reason, or the error of a disk or store */
  async attempt(attempt: Attempt) {
    const { input, ticket } = attempt;
    const parts = lineParts(await input.read(ticket.entry));
    try {
      return await this.#attempt(attempt, parts);
    } catch (error) {
      if (!(error instanceof LineProblem)) throw error;
      const { code, message, param } = error;
      return unanswered(parts.customIdJson, code, message, param);
    }
  }

  async #attempt(attempt: Attempt, parts: LineParts) {
    const { claim, lane, ticket, signal } = attempt;
    const { job } = claim;
    const { model, gate } = lane;
    const target = this.#targetOf(model, job);
    const { fetchesFileUrl } = target.spec;
    const { content, wantsBase64 } = await prepareLine(job, parts, body =>
      audioForm({ tenant: job.tenant, body, fetchesFileUrl, signal }, this.#sources),
    );
    const startedMs = performance.now();
    const isProbe = gate.isAway;
    const requestId = `${job.id}-${ticket.index}`;
    const answer = await target.exchange({
      ...content,
      path: job.endpoint,
      requestId,
      owner: job,
      signal,
    });
    this.metrics.attempted(model, (performance.now() - startedMs) / 1000);
    this.#updateGate(lane, target, answer);
    const again = verdictOn(answer, {
      tried: ticket.tried,
      limits: target.spec.retries,
      answers: gate.answers,
      isProbe,
      nowMs: Date.now(),
      deadlineMs: job.expiresAtMs,
    });
    if (again) {
      this.metrics.retried(model, reasonOf(answer));
      return again;
    }
    const { results: files } = this;
    const settled = await resultOf(answer, { claim, parts, wantsBase64, files });
    this.metrics.settled(model, settled.kind === 'O', settled.usage);
    return settled;
  }

  /** @throws LineProblem */
  #targetOf(model: string, { terms }: BatchJob): LineTarget {
    const target = this.targets.targetOf(model);
    // The gateway checks its own models, aliases included.
    if (target && (target.spec.fetchesFileUrl || mayUse(terms, model))) return target;
    throw new LineProblem('model_not_found', 'No target is configured for this model.', 'model');
  }

  /**
   * Adjusts the slots of the model to the answer; while all addresses of the target are
   * unreachable, lines wait.
   */
  #updateGate({ gate, model }: LineLane, target: LineTarget, answer: Answer): void {
    const nowMs = performance.now();
    const waitMs = askedMs(answer);
    if (failureCauseOf(answer) === 'away') {
      if (answer.kind === 'answer') gate.overloaded(nowMs);
      if (target.isReachable(nowMs)) return;
      if (gate.failed(nowMs, waitMs))
        this.#logger.warn(
          { model, target: target.name, reason: reasonOf(answer), detail: messageOf(answer) },
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

/** 429, 5xx or a timeout. */
const isOverloaded = (answer: Answer): boolean =>
  answer.kind === 'answer'
    ? answer.status === 429 || answer.status >= 500
    : answer.kind === 'transport' && answer.cause === 'timeout';

const messageOf = (answer: Answer): string | undefined =>
  answer.kind === 'answer' ? undefined : answer.message;

const reasonOf = (answer: Answer): string =>
  answer.kind === 'answer'
    ? String(answer.status)
    : answer.kind === 'transport'
      ? answer.cause
      : answer.kind;

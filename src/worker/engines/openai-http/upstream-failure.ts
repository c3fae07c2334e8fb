import { type IncomingHttpHeaders } from 'node:http';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { ERROR_REGISTRY, isErrorCode } from '../../../contracts/errors/error-registry.js';
import { DomainError, type ErrorCode } from '../../../core/errors/domain-error.js';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import { type OpenAiHttpOptions } from './options.js';

/** What an upstream says about its failure, brought to one shape. */
interface UpstreamProblem {
  /** One line; empty when it said nothing readable. */
  readonly message: string;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

const MAX_CHARACTERS = 500;

/**
 * Reads OpenAI's `{error: {message, code, param}}`, vLLM's bare `{message, …}`, FastAPI's
 * `{detail}` and plain text. `secret` is struck out wherever it stands: some servers
 * quote the key they refuse.
 */
export function problemIn(body: string, secret: string | undefined): UpstreamProblem {
  const fields = problemFields(body);
  const text = fields ? messageOf(fields) : isMarkup(body) ? '' : body;
  return {
    message: oneLine(secret === undefined ? text : text.replaceAll(secret, '***')),
    code: textOf(fields?.code),
    param: textOf(fields?.param),
  };
}

function problemFields(body: string): Fields | undefined {
  const parsed = jsonIn(body);
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const fields = parsed as Fields;
  return isObject(fields.error) ? fields.error : fields;
}

function messageOf({ message, error, detail }: Fields): string {
  if (Array.isArray(detail)) return detail.filter(isObject).map(complaint).join('; ');
  return textOf(message) ?? textOf(error) ?? textOf(detail) ?? '';
}

/** A problem as FastAPI reports it: `{loc: ["body", "temperature"], msg: "…"}`. */
function complaint({ loc, msg }: Fields): string {
  const field: unknown = Array.isArray(loc) ? loc.at(-1) : undefined;
  return [textOf(field), textOf(msg)].filter(part => part !== undefined).join(': ');
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
/** The error page of a proxy tells callers nothing. */
const isMarkup = (body: string): boolean => body.trimStart().startsWith('<');
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, MAX_CHARACTERS);

/**
 * What one attempt ended with. `retry`: another one may go better, at the earliest after
 * `afterMs` where that is known.
 */
export class UpstreamFailure extends Error {
  constructor(
    readonly error: DomainError,
    readonly retry?: { readonly afterMs: number | undefined },
  ) {
    super(error.message, { cause: error.cause });
    this.name = 'UpstreamFailure';
  }
}

interface AnswerStatus {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly problem: UpstreamProblem;
  /** From `Retry-After` or `retry-after-ms`. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Statuses that judge what the caller sent; any other 4xx is about the connection between
 * the two servers.
 */
const ABOUT_THE_INPUT: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_value',
  413: 'file_too_large',
  415: 'invalid_value',
  422: 'invalid_value',
};

/** What an operator should look at, by status. */
const OPERATOR_HINTS: Readonly<Record<number, string>> = {
  401: 'the key in the file of options.apiKeyFile is missing or wrong',
  402: "the upstream's account is not paid",
  403: 'the key in the file of options.apiKeyFile may not use this model',
  404: 'check options.baseUrl and options.model',
  405: 'check options.baseUrl',
  407: 'a proxy in front of the upstream wants credentials',
};

/**
 * Each non-2xx answer as what the caller is told. Nothing said here holds the key, an
 * address or a path of this machine.
 */
export function failureOfStatus(modelId: string, answer: AnswerStatus): UpstreamFailure {
  const { status, problem, retryAfterMs } = answer;
  const retry = mayRetry(answer) ? { afterMs: retryAfterMs } : undefined;
  const code = codeOfInput(answer);
  if (code !== undefined) return new UpstreamFailure(refusal(code, answer));
  if (status === 429 && !isExhausted(problem)) {
    const message = `The upstream of model '${modelId}' is at its limit.${said(problem)}`;
    return new UpstreamFailure(new DomainError('queue_full', message, { retryAfterMs }), retry);
  }
  const message = `The upstream of model '${modelId}' answered ${status}${explanation(answer)}`;
  return new UpstreamFailure(new DomainError('engine_failed', message), retry);
}

/** The upstream answered, but not with what was asked for. */
export const unusableAnswer = (modelId: string, what: string): UpstreamFailure =>
  new UpstreamFailure(
    new DomainError('engine_failed', `The upstream of model '${modelId}' ${what}`),
  );

function codeOfInput({ status, problem }: AnswerStatus): ErrorCode | undefined {
  const code = ABOUT_THE_INPUT[status];
  // The name of the upstream's model is the operator's: callers know another one.
  if (code === undefined || problem.param === 'model') return undefined;
  // An upstream that is a Switchyard speaks our own codes.
  if (isErrorCode(problem.code) && isSameJudgement(problem.code, status)) return problem.code;
  return code === 'invalid_value' && problem.param === 'file' ? 'invalid_audio' : code;
}

const isSameJudgement = (code: ErrorCode, status: number): boolean =>
  ERROR_REGISTRY[code].status === status && ERROR_REGISTRY[code].type === 'invalid_request_error';

const refusal = (code: ErrorCode, { status, problem }: AnswerStatus): DomainError =>
  new DomainError(
    code,
    `The upstream refuses the request: ${problem.message || `status ${status}`}`,
    {
      param: problem.param,
      // One of ours was judged already: it is `code`, or means something else here.
      foreignCode: isErrorCode(problem.code) ? undefined : problem.code,
    },
  );

function mayRetry({ status, headers, problem }: AnswerStatus): boolean {
  if (headers['x-should-retry'] === 'false' || isExhausted(problem)) return false;
  return status === 408 || status === 429 || status >= 500;
}

/** OpenAI sends 429 for an account without money, too; waiting does not help. */
const isExhausted = ({ code }: UpstreamProblem): boolean => code === 'insufficient_quota';

function explanation({ status, problem }: AnswerStatus): string {
  if (status >= 300 && status < 400)
    return ', a redirect, which is not followed: set options.baseUrl to where it leads.';
  const hint = isExhausted(problem)
    ? "the upstream's account has no quota left"
    : OPERATOR_HINTS[status];
  // Its words about a key may quote the key.
  if (status === 401 || status === 403) return `: ${hint}.`;
  return `${hint === undefined ? '.' : `: ${hint}.`}${said(problem)}`;
}

const said = ({ message }: UpstreamProblem): string =>
  message === '' ? '' : ` It says: ${message}`;

/** Pauses between attempts, as in OpenAI's clients. */
const OWN_WAITS = { firstMs: 500, longestMs: 8000 };

/**
 * Attempts until one succeeds, fails for good, or none are left; never another one once
 * `signal` has aborted.
 *
 * @throws DomainError of the last attempt, the abort's reason, or whatever
 *   else `attempt` threw.
 */
export async function withRetries<T>({
  attempt,
  policy: { retries, maxRetryWaitMs },
  signal,
  timing,
}: {
  readonly attempt: () => Promise<T>;
  readonly policy: Pick<OpenAiHttpOptions, 'retries' | 'maxRetryWaitMs'>;
  readonly signal: AbortSignal;
  readonly timing: RetryTiming;
}): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.retry === undefined || tries > retries) {
        if (tries > 1) error.error.message += ` (${tries} attempts)`;
        throw error.error;
      }
      const { afterMs } = error.retry;
      const waitMs = afterMs ?? backoffMs(tries, OWN_WAITS, () => timing.random());
      await timing.sleep(Math.min(maxRetryWaitMs, waitMs), signal);
    }
  }
}

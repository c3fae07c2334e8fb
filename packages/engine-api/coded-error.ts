interface ErrorDetails {
  /** The invalid field, as the caller spelled it. */
  readonly param?: string;
  /**
   * The error code of an upstream server, returned to the caller unchanged. No decision
   * depends on it.
   */
  readonly foreignCode?: string | undefined;
  /** Milliseconds before a retry, for codes that a retry can help. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** In characters. Messages quote what the caller sent, so their length is limited. */
const LONGEST_MESSAGE = 2000;
const LONGEST_PARAM = 200;
/**
 * A word such as `content_policy_violation`; other codes of an upstream
 * server are dropped.
 */
const FOREIGN_CODE = /^[A-Za-z0-9._-]{1,64}$/;

const shortened = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;

/**
 * The only error type that crosses module boundaries: the product's `DomainError`, and an
 * engine's `EngineError`.
 */
export class CodedError<Code extends string> extends Error {
  readonly param: string | undefined;
  readonly foreignCode: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly code: Code,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(shortened(message, LONGEST_MESSAGE), { cause: details.cause });
    this.name = 'DomainError';
    this.param = details.param && shortened(details.param, LONGEST_PARAM);
    this.foreignCode = FOREIGN_CODE.test(details.foreignCode ?? '')
      ? details.foreignCode
      : undefined;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** A class of errors whose codes are those of one set. */
export interface CodedErrorClass<Code extends string> {
  new (code: Code, message: string, details?: ErrorDetails): CodedError<Code>;
  readonly prototype: CodedError<Code>;
}

/**
 * Why an engine refuses an item, or fails; docs/reference/errors.md says
 * what callers get.
 */
type EngineErrorCode =
  | 'invalid_value'
  | 'invalid_json'
  | 'unsupported_task'
  | 'unsupported_parameter'
  | 'context_length_exceeded'
  | 'voice_not_found'
  | 'queue_full'
  | 'request_cancelled'
  | 'engine_failed'
  | 'worker_crashed'
  | 'worker_lost';

export const EngineError: CodedErrorClass<EngineErrorCode> = CodedError;
export type EngineError = CodedError<EngineErrorCode>;

/** @param param the field that the caller has to change */
export const invalidValue = (message: string, param: string): EngineError =>
  new EngineError('invalid_value', message, { param });

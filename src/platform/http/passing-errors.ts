import { DomainError, type ErrorCode } from '../../core/errors/domain-error.js';
import { spreadHint } from '../../core/errors/retry-hint.js';

/** Another replica answers at once, a lone server after a restart of a few seconds. */
const RESTART_MS = 2000;
/** The probe of the next second may find Redis back. */
const QUEUE_MS = 2000;
/** Databases and buckets that restart are back within seconds. */
const STORAGE_MS = 5000;

/** Milliseconds after which the issuer's keys may be fetched again. */
const ISSUER_MS = 30_000;

const passing = (code: ErrorCode, message: string, afterMs: number, cause?: unknown): DomainError =>
  new DomainError(code, message, {
    retryAfterMs: spreadHint(afterMs, Math.random),
    cause,
  });

/** A new one for every caller, as the others here: each gets its own time. */
export const shuttingDown = (): DomainError =>
  passing(
    'shutting_down',
    'The server is shutting down; try another replica, or later.',
    RESTART_MS,
  );

export const storageUnavailable = (message: string, cause?: unknown): DomainError =>
  passing('storage_unavailable', message, STORAGE_MS, cause);

export const queueUnavailable = (message: string, cause?: unknown): DomainError =>
  passing('queue_unavailable', message, QUEUE_MS, cause);

export const issuerUnavailable = (): DomainError =>
  passing(
    'issuer_unavailable',
    'The issuer of `auth.oidc_issuer` does not return its keys, so its tokens cannot be checked; API keys work.',
    ISSUER_MS,
  );

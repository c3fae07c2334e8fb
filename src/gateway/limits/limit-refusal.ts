import { type LimitName, type Limits, type Refusal } from '../../core/limits/limit-rules.js';
import { DomainError } from '../../core/shared/domain-error.js';

const WORDS: Readonly<Record<LimitName, string>> = {
  requestsPerDay: 'requests per day',
  requestsPerMinute: 'requests per minute',
  tokensPerMinute: 'tokens per minute',
  audioSecondsPerMinute: 'seconds of audio per minute',
  concurrentRequests: 'requests at the same time',
};

/** `rate_limit_exceeded` says when to come back; `insufficient_quota`, which SDKs must not retry, that the day's share is used up. */
export function limitError({ limit, retryAfterMs }: Refusal, limits: Limits): DomainError {
  const what = `${limits[limit]} ${WORDS[limit]}`;
  if (limit === 'requestsPerDay') {
    const at = new Date(Date.now() + retryAfterMs).toISOString().slice(0, 16);
    return new DomainError('insufficient_quota', `The quota of ${what} is used up; it is new at ${at}Z.`);
  }
  const seconds = Math.ceil(retryAfterMs / 1000);
  return new DomainError('rate_limit_exceeded', `The limit of ${what} is reached; try again in ${seconds} s.`, {
    retryAfterMs,
  });
}

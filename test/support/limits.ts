import { type Limits } from '../../src/core/limits/limit-rules.js';

/** Unlimited. */
export const NO_LIMITS: Limits = {
  requestsPerMinute: 0,
  tokensPerMinute: 0,
  audioSecondsPerMinute: 0,
  concurrentRequests: 0,
  requestsPerDay: 0,
};

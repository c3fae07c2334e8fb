import { type Allowance, type RateLimitStatus } from '../../core/limits/limit-rules.js';

/** OpenAI's headers, and a third group for seconds of audio. What has no limit has no header. */
export function limitHeaders({ requests, tokens, audioSeconds }: RateLimitStatus): Record<string, string> {
  return {
    ...group('requests', requests),
    ...group('tokens', tokens),
    ...group('audio-seconds', audioSeconds),
  };
}

const group = (what: string, allowance: Allowance | undefined): Record<string, string> =>
  allowance
    ? {
        [`x-ratelimit-limit-${what}`]: String(allowance.limit),
        [`x-ratelimit-remaining-${what}`]: String(allowance.remaining),
        [`x-ratelimit-reset-${what}`]: duration(allowance.resetMs),
      }
    : {};

/** As OpenAI writes them: `20ms`, `7.66s`, `6m0s`. Rounded up: what it promises is there by then. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.ceil(ms)}ms`;
  if (ms < 60_000) return `${Math.ceil(ms / 10) / 100}s`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${minutes}m${seconds % 60}s`;
}

import { type CellRate, take, waitMs } from '../../core/limits/cell-rate.js';
import { DomainError } from '../../core/shared/domain-error.js';

const MINUTE_MS = 60_000;

/**
 * Wrong keys by address. It never keeps a right key out: keys are 256 random bits and cannot be guessed, but whoever could lock an
 * address out could lock out everybody behind the same proxy. Addresses are bounded; the eldest are forgotten first.
 */
export class FailedAttempts {
  readonly #paidMs = new Map<string, number>();

  /** @param perMinute 0: without end */
  constructor(
    private readonly perMinute: number,
    private readonly nowMs: () => number = () => performance.now(),
    private readonly maxAddresses = 10_000,
  ) {}

  /** What this failure is answered with: itself, or `rate_limit_exceeded` once there were too many. */
  answerTo(error: unknown, address: string): unknown {
    if (this.perMinute === 0 || !(error instanceof DomainError) || error.code !== 'invalid_api_key') return error;
    const rate: CellRate = { limit: this.perMinute, periodMs: MINUTE_MS };
    const nowMs = this.nowMs();
    const paidMs = this.#paidMs.get(address) ?? 0;
    const retryAfterMs = waitMs(rate, paidMs, 1, nowMs);
    if (retryAfterMs > 0) return tooMany(retryAfterMs);
    this.#paidMs.delete(address);
    this.#paidMs.set(address, take(rate, paidMs, 1, nowMs));
    const eldest = this.#paidMs.keys().next();
    if (this.#paidMs.size > this.maxAddresses && !eldest.done) this.#paidMs.delete(eldest.value);
    return error;
  }
}

const tooMany = (retryAfterMs: number): DomainError =>
  new DomainError('rate_limit_exceeded', 'Too many wrong API keys came from this address.', { retryAfterMs });

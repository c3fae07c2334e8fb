/** So many units per period, evenly refilled; a whole period's worth may come at once. */
export interface CellRate {
  /** Units per period, above 0. */
  readonly limit: number;
  readonly periodMs: number;
}

/** Differences below this are rounding: stores keep instants to the microsecond. */
const ROUNDING_MS = 0.01;

/**
 * GCRA, a leaky bucket in one number: `paidMs`, the instant at which everything taken so far is paid for. Nothing is counted down
 * by a timer, nothing is kept of whoever has not come for a period, and a store needs one write for a decision.
 */
export function mayTake(rate: CellRate, paidMs: number, units: number, nowMs: number): boolean {
  return waitMs(rate, paidMs, units, nowMs) === 0;
}

/** Milliseconds until `units` would be given; for more than the limit at once: until the bucket is full. */
export function waitMs({ limit, periodMs }: CellRate, paidMs: number, units: number, nowMs: number): number {
  const fitting = Math.min(units, limit);
  const wait = backlogMs(paidMs, nowMs) + (fitting * periodMs) / limit - periodMs;
  return wait > ROUNDING_MS ? wait : 0;
}

/** The new `paidMs`. Takes in any case: what was used is paid for later, as debt (tokens are known when they are spent). */
export function take({ limit, periodMs }: CellRate, paidMs: number, units: number, nowMs: number): number {
  return Math.max(paidMs, nowMs) + (units * periodMs) / limit;
}

/** Whole units that would be given now. */
export function remaining({ limit, periodMs }: CellRate, paidMs: number, nowMs: number): number {
  const free = (limit * (periodMs - backlogMs(paidMs, nowMs) + ROUNDING_MS)) / periodMs;
  return Math.min(Math.floor(limit), Math.max(0, Math.floor(free)));
}

/** Milliseconds until nothing is owed. */
export const backlogMs = (paidMs: number, nowMs: number): number => Math.max(0, paidMs - nowMs);

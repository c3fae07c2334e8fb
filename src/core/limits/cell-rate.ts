/** Units per period, refilled evenly. A whole period's units may be used at once. */
export interface CellRate {
  /** Units per period, above 0. */
  readonly limit: number;
  readonly periodMs: number;
}

/** Tolerance: stores keep times in microseconds. */
const ROUNDING_MS = 0.01;

/**
 * GCRA, a leaky bucket in one number: `paidMs`, the time at which all units taken
 * so far are paid for. It needs no timer, no state after an idle period, and one
 * write per decision.
 *
 * @returns milliseconds until `units` are available; for more units than the limit: until
 *   the bucket is full
 */
export function waitMs(
  { limit, periodMs }: CellRate,
  paidMs: number,
  units: number,
  nowMs: number,
): number {
  const fitting = Math.min(units, limit);
  const wait = backlogMs(paidMs, nowMs) + (fitting * periodMs) / limit - periodMs;
  return wait > ROUNDING_MS ? wait : 0;
}

/**
 * The new `paidMs`. It can exceed the limit: usage that is known only afterwards, such as
 * tokens, becomes debt.
 */
export function take(
  { limit, periodMs }: CellRate,
  paidMs: number,
  units: number,
  nowMs: number,
): number {
  return Math.max(paidMs, nowMs) + (units * periodMs) / limit;
}

/** Whole units that are available now. */
export function remaining({ limit, periodMs }: CellRate, paidMs: number, nowMs: number): number {
  const free = (limit * (periodMs - backlogMs(paidMs, nowMs) + ROUNDING_MS)) / periodMs;
  return Math.min(Math.floor(limit), Math.max(0, Math.floor(free)));
}

/** Milliseconds until the debt is paid. */
export const backlogMs = (paidMs: number, nowMs: number): number => Math.max(0, paidMs - nowMs);

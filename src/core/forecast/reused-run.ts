import { type ForecastRun } from './forecast-run.js';

/**
 * A run is used again for so long per step that it took: about 1 % of the time
 * goes into runs.
 */
const REUSED_MS_PER_STEP = 5;

const REUSED_LEAST_MS = 50;

/** The last run that was made, or a new one. Undefined: no worker is ready, or none has answered yet. */
export function reused(
  make: (nowMs: number) => ForecastRun | undefined,
  inFlight: () => number,
): typeof make {
  let run: ForecastRun | undefined;
  let staleAtMs = -Infinity;
  return nowMs => {
    const { slotsIfIdle = Infinity } = run ?? {};
    // A burst takes every slot within the time for which a run is used.
    const isFilled = slotsIfIdle < Infinity && inFlight() >= slotsIfIdle;
    // None could be made: a worker may be ready, or have answered, at any moment, and to
    // look costs nothing.
    if (run && nowMs < staleAtMs && !isFilled) return run;
    run = make(nowMs);
    staleAtMs = nowMs + Math.max(REUSED_LEAST_MS, (run?.steps ?? 0) * REUSED_MS_PER_STEP);
    return run;
  };
}

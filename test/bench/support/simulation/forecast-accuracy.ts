import { median, rounded } from '../percentiles.js';
import { type DeviceCost } from './simulated-worker.js';
import { type ForecastWait } from './simulation-ledger.js';
import { type SimulationRules } from './simulation-rules.js';
import { generateTrace, type TraceMix } from './trace-mix.js';
import { type TraceRequest } from './trace.js';
import { VirtualGateway } from './virtual-gateway.js';

/** Shorter waits are not judged. */
const LEAST_MS = 200;
/** What it learns in this time is not judged. */
const WARMUP_MS = 60_000;
const MODEL = 'm';

export interface ForecastReport {
  /** Requests that waited longer than 200 ms. */
  readonly waits: number;
  /** Share of them that started before the p90 that was forecast when they came. */
  readonly coverage: number;
  /** Median of |p50 - wait| / wait. */
  readonly medianError: number;
  readonly byPriority: Readonly<
    Record<string, Omit<ForecastReport, 'byPriority' | 'usPerRequest'>>
  >;
  /** Processor time of the forecasts per request, microseconds. */
  readonly usPerRequest: number;
}

export interface ForecastScenario {
  readonly workers: number;
  readonly cost: DeviceCost;
  readonly trace: readonly TraceRequest[];
  readonly rules?: Partial<SimulationRules>;
}

/** Runs a trace with and without forecasts: what they were worth, and what they cost. */
export function forecastAccuracy({
  workers,
  cost,
  trace,
  rules,
}: ForecastScenario): ForecastReport {
  const timed = (forecasts: boolean) => {
    const gateway = new VirtualGateway({
      workers: new Map([[MODEL, workers]]),
      cost,
      rules,
      forecasts,
    });
    gateway.replay(trace);
    const startedMs = performance.now();
    gateway.run();
    return { gateway, tookMs: performance.now() - startedMs };
  };
  const [plain, with_] = [timed(false), timed(true)];
  const all = with_.gateway.book.forecasts.filter(({ waitedMs }) => waitedMs > LEAST_MS);
  const judged = all.slice(all.findIndex(({ atMs }) => atMs > WARMUP_MS));
  return {
    ...judge(judged),
    byPriority: Object.fromEntries(
      (['realtime', 'batch'] as const).map(name => [
        name,
        judge(judged.filter(({ priority }) => priority === name)),
      ]),
    ),
    usPerRequest: rounded((1000 * (with_.tookMs - plain.tookMs)) / trace.length),
  };
}

const judge = (waits: readonly ForecastWait[]) => ({
  waits: waits.length,
  coverage: rounded(
    waits.filter(({ waitedMs, p90 }) => waitedMs <= p90).length / Math.max(1, waits.length),
  ),
  medianError: median(waits.map(({ waitedMs, p50 }) => Math.abs(p50 - waitedMs) / waitedMs)),
});

/**
 * Load that rises and falls between a third and 130 % of what the workers can do, with
 * bursts on top.
 */
export function changingLoad(
  mix: Omit<TraceMix, 'requests' | 'models' | 'ratePerS'>,
  perS: number,
): TraceRequest[] {
  const phases = [0.35, 0.9, 1.3, 0.7, 1.15, 0.5, 1.05, 0.8];
  const phaseMs = 60_000;
  return phases.flatMap((load, index) => {
    const ratePerS = load * perS;
    const requests = Math.round((ratePerS * phaseMs) / 1000);
    const part = generateTrace({
      ...mix,
      requests,
      ratePerS,
      models: new Map([[MODEL, 1]]),
      seed: index + 1,
    });
    return part.map(request => ({ ...request, atMs: request.atMs + index * phaseMs }));
  });
}

export const describeForecast = (name: string, report: ForecastReport): string => {
  const line = ({
    waits,
    coverage,
    medianError,
  }: Pick<ForecastReport, 'waits' | 'coverage' | 'medianError'>): string =>
    `${waits} waits, ${(100 * coverage).toFixed(1)} % before p90, median error ${(100 * medianError).toFixed(1)} %`;
  const parts = Object.entries(report.byPriority).map(
    ([priority, part]) => `    ${priority}: ${line(part)}`,
  );
  return [`  ${name}: ${line(report)}, ${report.usPerRequest} µs a request`, ...parts].join('\n');
};

import { type Arrivals, DeviceModel } from '../../support/device-model.js';
import { transcriptionRequest } from '../../support/http-request.js';
import { BENCH_MODEL } from './bench-model.js';
import { progress } from './bench-result.js';
import { type BenchRig } from './bench-rig.js';
import { type LoadArrivals, type LoadJob } from './load-job.js';
import { type LoadProcess } from './load-process.js';
import { median, rounded } from './percentiles.js';

export const SERVICE_MS = 20;
export const GROUP = 8;
export const IDEAL_PER_S = (GROUP / SERVICE_MS) * 1000;
export const POLICIES = ['adaptive', 'window', 'none'] as const;
export type Policy = (typeof POLICIES)[number];
/**
 * The default policy carries the goals: it is measured five times and the median counts.
 */
const GOAL_ROUNDS = 5;
interface Measured {
  /** Of the ideal: the device always busy with full groups. */
  readonly fraction: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly groupSize: number;
  /**
   * What an engine call took, timers and all; absent in predictions, which have it exact.
   */
  readonly deviceP50Ms?: number;
}

const DEVICE_MS = 'x-switchyard-device-ms';

interface Row {
  readonly measured: Measured;
  readonly predicted: Measured;
}

/** What was measured and what the model predicts, by the name of the load. */
export type Table = Readonly<Record<string, Row>>;

export interface TableOptions {
  readonly rig: BenchRig;
  readonly load: LoadProcess;
  readonly policy: Policy;
  readonly callers: readonly number[];
  readonly loads: readonly number[];
  readonly prepMs: number;
}

export async function measureTable(options: TableOptions): Promise<Table> {
  const { policy, prepMs, load, rig } = options;
  const rows = rowsOf(options).map(row => ({ ...row, rounds: [] as Measured[] }));
  await load.run(warmUp(rig.gateway.port, policy));
  // Round by round and not row by row: a slow half minute of the machine then costs every
  // row one round, and no row its median.
  for (let round = 0; round < (policy === 'adaptive' ? GOAL_ROUNDS : 1); round++) {
    for (const { arrivals, rounds } of rows)
      rounds.push(await measureRound(options, arrivals, round));
  }
  const table: Record<string, Row> = {};
  for (const { name, arrivals, rounds } of rows) {
    table[name] = {
      measured: medians(rounds),
      predicted: predict(policy, arrivals, prepMs),
    };
    progress(`  ${policy} prep ${prepMs} ms ${name}: ${describe(table[name])}`);
  }
  return table;
}

function rowsOf({ callers, loads }: TableOptions): { name: string; arrivals: LoadArrivals }[] {
  return [
    ...callers.map(count => ({
      name: `c=${count}`,
      arrivals: { kind: 'closed' as const, callers: count },
    })),
    ...loads.map(share => ({
      name: `poisson ${share * 100} %`,
      arrivals: { kind: 'poisson' as const, ratePerS: share * IDEAL_PER_S },
    })),
  ];
}

async function measureRound(
  { rig, load }: TableOptions,
  arrivals: LoadArrivals,
  round: number,
): Promise<Measured> {
  const before = await groupCounts(rig);
  const report = await load.run(loadJob(rig.gateway.port, arrivals, round));
  const after = await groupCounts(rig);
  return {
    fraction: report.requestsPerS / IDEAL_PER_S,
    p50Ms: report.latencyMs.p50,
    p99Ms: report.latencyMs.p99,
    groupSize: (after.sum - before.sum) / (after.count - before.count),
    deviceP50Ms: report.headers[DEVICE_MS]?.p50 ?? 0,
  };
}

function medians(rounds: readonly Measured[]): Measured {
  const middle = (pick: (round: Measured) => number): number => rounded(median(rounds.map(pick)));
  return {
    fraction: middle(round => round.fraction),
    p50Ms: middle(round => round.p50Ms),
    p99Ms: middle(round => round.p99Ms),
    groupSize: middle(round => round.groupSize),
    deviceP50Ms: middle(round => round.deviceP50Ms ?? 0),
  };
}

/**
 * A server that has just started runs cold code, 2 ms slower per request, until V8 has
 * compiled all of it after some 20,000: nobody wants to know that of a service.
 */
const warmUp = (port: number, policy: Policy): LoadJob => ({
  ...loadJob(port, { kind: 'closed', callers: 64 }, 0),
  durationMs: policy === 'adaptive' ? 60_000 : 5000,
});

function loadJob(port: number, arrivals: LoadArrivals, round: number): LoadJob {
  const queued = arrivals.kind === 'closed' ? (arrivals.callers / IDEAL_PER_S) * 1000 : 0;
  return {
    port,
    request: transcriptionRequest({ model: BENCH_MODEL, priority: 'batch' }),
    arrivals,
    warmupMs: 400 + queued,
    durationMs: arrivals.kind === 'closed' ? 2000 : 4000,
    seed: round + 1,
    numericHeaders: [DEVICE_MS],
  };
}

async function groupCounts(rig: BenchRig): Promise<{ sum: number; count: number }> {
  return {
    sum: (await rig.gateway.scrape()).sum('scheduler_batch_size_sum'),
    count: (await rig.gateway.scrape()).sum('scheduler_batch_size_count'),
  };
}

/** By the device model, with the product's own dispatcher in it. */
function predict(policy: Policy, load: LoadArrivals, prepMs: number): Measured {
  const arrivals: Arrivals =
    load.kind === 'closed' ? { callers: load.callers } : { perMs: load.ratePerS / 1000 };
  const costs = { prepMs, deviceMs: SERVICE_MS };
  const model = new DeviceModel({ window: { policy }, arrivals, ...costs, forMs: 5000 });
  const { perSecond, p50Ms, p99Ms, meanGroup } = model.run();
  return {
    fraction: rounded(perSecond / IDEAL_PER_S),
    p50Ms: rounded(p50Ms),
    p99Ms: rounded(p99Ms),
    groupSize: rounded(meanGroup),
  };
}

function describe({ measured, predicted }: Row): string {
  const side = (side: Measured): string =>
    `${side.fraction.toFixed(3)} of ideal, p50 ${side.p50Ms.toFixed(0)} p99 ${side.p99Ms.toFixed(0)} ms, ` +
    `groups of ${side.groupSize.toFixed(1)}${side.deviceP50Ms === undefined ? '' : `, device ${side.deviceP50Ms} ms`}`;
  return `${side(measured)} (model: ${side(predicted)})`;
}

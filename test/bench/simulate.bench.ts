import { atLeast, atMost, type BenchResult, progress } from './support/bench-result.js';
import {
  deadlineLoad,
  type DeadlineReport,
  describeDeadlines,
} from './support/simulation/deadline-load.js';
import { FairJobs, fairness, type JobLane, type JobOrder } from './support/simulation/fair-jobs.js';
import {
  changingLoad,
  describeForecast,
  forecastAccuracy,
  type ForecastReport,
} from './support/simulation/forecast-accuracy.js';
import { type DeviceCost } from './support/simulation/simulated-worker.js';
import {
  describeReport,
  drawWaits,
  simulate,
  type SimulationReport,
} from './support/simulation/simulation-report.js';
import { simulationRules } from './support/simulation/simulation-rules.js';
import {
  describeSpeech,
  speechLoad,
  type SpeechOrder,
  type SpeechReport,
} from './support/simulation/speech-load.js';
import {
  describeShares,
  type SharesReport,
  tenantShares,
} from './support/simulation/tenant-shares.js';
import { generateTrace, zipfShares } from './support/simulation/trace-mix.js';
import { readTrace, type TraceRequest } from './support/simulation/trace.js';
import { VirtualGateway } from './support/simulation/virtual-gateway.js';

/** A recogniser on a GPU: 3 s for a full group of 8 files, 1.25 s for one. */
const COST: DeviceCost = {
  groupMs: 1000,
  itemMs: 250,
  prepMs: 40,
  hopMs: 0.7,
  maxBatch: 8,
};
const GROUP_MS = COST.groupMs + COST.maxBatch * COST.itemMs;
const WORKER_PER_S = (COST.maxBatch / GROUP_MS) * 1000;

const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 100_000);
const WORKERS = Number(process.env.BENCH_WORKERS ?? 200);
const FLEET = 2000;
const TENANTS = ['acme', 'blue', 'cobalt', 'delta'];

/**
 * What happens on more machines than there are here: the product's core in virtual time,
 * over simulated workers.
 */
export function run(): Promise<BenchResult> {
  const file = process.env.BENCH_TRACE;
  return Promise.resolve(file === undefined ? simulateAll() : replayFile(file));
}

function simulateAll(): BenchResult {
  const day = mixed('a day', { workers: WORKERS, requests: REQUESTS, models: 8 });
  const fleet = mixed('a fleet', { workers: FLEET, requests: 2 * REQUESTS, models: 40 });
  const aging = overload('overload');
  const noAging = overload('overload without aging', Infinity);
  const fair = tenants('fair');
  const inOrder = tenants('in order');
  const shares = shared('tenants share', true);
  const byTime = shared('one order', false);
  const forecast = forecasts();
  const deadlines = timed('by latest start', false);
  const expiring = timed('first in, first out', true);
  const speech = spoken('first audio first');
  const speechInTurns = spoken('in turns');
  const speechInOrder = spoken('first in, first out');
  const boundMs = Math.max(simulationRules().agingMs, aging.waitMs.realtime.max);
  const all = [day, fleet, aging, fair.report];
  const lost = all.reduce((sum, { unsettled, slotsLeaked }) => sum + unsettled + slotsLeaked, 0);
  return {
    results: {
      day,
      fleet,
      overload: aging,
      overloadWithoutAging: noAging,
      tenants: fair,
      tenantsInOrder: inOrder,
      shares,
      byTime,
      forecast,
      deadlines,
      expiring,
      speech,
      speechInTurns,
      speechInOrder,
    },
    goals: [
      atMost(
        `a day: REALTIME wait p99, service times of ${GROUP_MS} ms`,
        day.waitMs.realtime.p99 / GROUP_MS,
        1,
      ),
      atMost('a fleet: the same', fleet.waitMs.realtime.p99 / GROUP_MS, 1),
      atMost(
        'a day: REALTIME answered p99, service times',
        day.answerMs.realtime.p99 / GROUP_MS,
        2,
      ),
      atMost('a fleet: the same', fleet.answerMs.realtime.p99 / GROUP_MS, 2),
      atMost(
        'overload: longest BATCH wait, of max(aging, longest REALTIME wait)',
        aging.waitMs.batch.max / boundMs,
        1.05,
      ),
      atMost(
        'overload: longest BATCH answer beyond that, service times',
        (aging.answerMs.batch.max - boundMs) / GROUP_MS,
        12,
      ),
      atMost('overload: BATCH that ran out of time', aging.timedOut, 0),
      atLeast('overload: utilisation of the devices', aging.utilisation, 0.98),
      atLeast('overload: group size, of the largest', aging.groupSize / COST.maxBatch, 0.98),
      atLeast("tenants: Jain's index while all have work", fair.fairness, 0.99),
      atLeast("online tenants: Jain's index of two with a backlog", shares.jain, 0.99),
      atMost(
        'online tenants: longest wait of one request per second, service times for each of 3',
        shares.steadyWaitMs.max / (3 * GROUP_MS),
        2,
      ),
      atLeast(
        'online tenants: utilisation, of that without shares',
        shares.utilisation / byTime.utilisation,
        0.98,
      ),
      atLeast('forecast: waits over 200 ms that end before their p90', forecast.coverage, 0.85),
      atMost('forecast: the same', forecast.coverage, 0.95),
      atMost('forecast: median error of p50', forecast.medianError, 0.25),
      atMost('forecast: processor time per request, ms', forecast.usPerRequest / 1000, 1),
      atLeast(
        'deadlines at 110 % load: answers in time, of first in, first out',
        deadlines.met / expiring.met,
        1.15,
      ),
      atMost(
        'deadlines: share of the device time for answers that came too late',
        deadlines.late,
        0.01,
      ),
      atMost(
        'speech at load 0.8: first audio p95, of that by whole answers',
        speech.firstMs.p95 / speechInOrder.firstMs.p95,
        0.1,
      ),
      atMost('speech at load 0.8: answers with a pause', speech.stutter, 0.009),
      atMost('requests never settled and slots never returned', lost, 0),
    ],
  };
}

function spoken(order: SpeechOrder): SpeechReport {
  const report = speechLoad(order);
  progress(`\n${describeSpeech(order, report)}`);
  return report;
}

/**
 * Eight workers while the load changes each minute between a third and 130 % of what they
 * can do, with bursts.
 */
function forecasts(): ForecastReport {
  const workers = 8;
  const mix = {
    tenants: TENANTS,
    realtimeShare: 0.33,
    bursts: { factor: 4, calmMs: 9000, burstMs: 1000 },
  };
  const report = forecastAccuracy({
    workers,
    cost: COST,
    trace: changingLoad(mix, workers * WORKER_PER_S),
  });
  progress(`\n${describeForecast('forecast', report)}`);
  return report;
}

function timed(name: string, onlyDrops: boolean): DeadlineReport {
  const report = deadlineLoad(600, onlyDrops);
  progress(`\n${describeDeadlines(name, report)}`);
  return report;
}

function shared(name: string, shares: boolean): SharesReport {
  const report = tenantShares(COST, shares);
  progress(`\n${describeShares(name, report)}`);
  return report;
}

interface Fleet {
  readonly workers: number;
  readonly requests: number;
  readonly models: number;
}

/**
 * Bursts of four times the calm rate, 80 % load on average, a third REALTIME, one in
 * fifty hangs up.
 */
function mixed(name: string, { workers, requests, models }: Fleet): SimulationReport {
  const shares = zipfShares(models);
  const staff = staffed(shares, workers);
  const total = [...staff.values()].reduce((sum, count) => sum + count, 0);
  const trace = generateTrace({
    ...{
      requests,
      models: shares,
      tenants: TENANTS,
      realtimeShare: 0.33,
      cancelShare: 0.02,
      cancelWithinMs: 5000,
    },
    ratePerS: 0.8 * total * WORKER_PER_S,
    bursts: { factor: 4, calmMs: 9000, burstMs: 1000 },
  });
  return told(name, staff, trace);
}

/** Workers by the share of the work, at least one each. */
const staffed = (
  shares: ReadonlyMap<string, number>,
  workers: number,
): ReadonlyMap<string, number> =>
  new Map([...shares].map(([model, share]) => [model, Math.max(1, Math.round(workers * share))]));

/**
 * REALTIME alone is 130 % of what the devices can do, for ten minutes, with
 * BATCH beside it.
 */
function overload(name: string, agingMs = simulationRules().agingMs): SimulationReport {
  const staff = new Map([['model-1', 20]]);
  const ratePerS = 1.4 * 20 * WORKER_PER_S;
  const trace = generateTrace({
    ...{
      requests: Math.round(ratePerS * 600),
      ratePerS,
      models: new Map([['model-1', 1]]),
    },
    ...{ tenants: TENANTS, realtimeShare: 1.3 / 1.4 },
  });
  return told(name, staff, trace, agingMs);
}

function told(
  name: string,
  workers: ReadonlyMap<string, number>,
  trace: readonly TraceRequest[],
  agingMs?: number,
): SimulationReport {
  const harness = new VirtualGateway({
    workers,
    cost: COST,
    rules: agingMs === undefined ? {} : { agingMs },
  });
  harness.replay(trace);
  const report = simulate(harness);
  progress(`\n${describeReport(name, report)}\n${drawWaits(harness.book.waitsMs)}`);
  return report;
}

/**
 * Three tenants with 24, 6 and 1 jobs of 600 lines on two models, until the smallest has
 * sent its last line.
 */
function tenants(order: JobOrder): {
  fairness: number;
  completed: Record<string, number>;
  report: SimulationReport;
} {
  const harness = new VirtualGateway({
    workers: new Map(Object.entries({ a: 4, b: 4 })),
    cost: COST,
  });
  const lanes = [...jobsOf('large', 24), ...jobsOf('middle', 6), ...jobsOf('small', 1)];
  const jobs = new FairJobs(harness, lanes, { all: 100, perModel: 50 }, order);
  jobs.pump();
  for (let atMs = 0; jobs.leftOf('small') > 0 && jobs.leftOf('large') > 0; atMs += 100)
    harness.run(atMs);
  const completed = Object.fromEntries(
    ['large', 'middle', 'small'].map(name => [name, harness.book.tenants.get(name) ?? 0]),
  );
  progress(`\n  tenants, lines ${order}: ${JSON.stringify(completed)}`);
  return {
    fairness: fairness(Object.values(completed)),
    completed,
    report: simulate(harness),
  };
}

const jobsOf = (tenant: string, count: number): JobLane[] =>
  Array.from({ length: count }, (_, index) => `${tenant}-${index}`).flatMap(job =>
    ['a', 'b'].map(model => ({ tenant, job, model, lines: 300 })),
  );

/** `BENCH_TRACE=file.jsonl BENCH_WORKERS=N`: N workers for each of its models. */
function replayFile(file: string): BenchResult {
  const trace = readTrace(file);
  const models = [...new Set(trace.map(({ model }) => model))];
  const report = told(file, new Map(models.map(model => [model, WORKERS])), trace);
  const lost = report.unsettled + report.slotsLeaked;
  return {
    results: { report },
    goals: [atMost('requests never settled and slots never returned', lost, 0)],
  };
}

import { atLeast, atMost, progress, type BenchResult } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { silentWav, transcriptionRequest } from '../support/http-request.js';
import { HttpConnection } from '../support/http-connection.js';
import { type LoadArrivals, type LoadJob } from './support/load-job.js';
import { LoadProcess } from './support/load-process.js';
import { distribution, median, rounded } from './support/percentiles.js';
import { BENCH_MODEL } from './support/bench-model.js';
import { predictWindow, type ModelArrivals } from './support/window-model.js';
import { WorkerClient } from './support/worker-client.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';

const SERVICE_MS = 20;
const GROUP = 8;
const IDEAL_PER_S = (GROUP / SERVICE_MS) * 1000;
const PREP_MS = 12;
const CALLERS = [1, 8, 16, 64, 512];
const LOADS = [0.5, 0.9];
const POLICIES = ['adaptive', 'window', 'none'] as const;
/** The default policy carries the goals: it is measured three times and the median counts. */
const GOAL_ROUNDS = 3;
const LONE_CALLS = 100;

type Policy = (typeof POLICIES)[number];

interface Measured {
  /** Of the ideal: the device always busy with full groups. */
  readonly fraction: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly groupSize: number;
  /** What an engine call took, timers and all; absent in predictions, which have it exact. */
  readonly deviceP50Ms?: number;
}

const DEVICE_MS = 'x-switchyard-device-ms';

interface Row {
  readonly measured: Measured;
  readonly predicted: Measured;
}

type Table = Readonly<Record<string, Row>>;

/** Does the window fill groups without making anybody wait? One lane, 20 ms per group of up to 8 (D-02, D-24). */
export async function run(): Promise<BenchResult> {
  await using load = new LoadProcess();
  const policies: Partial<Record<Policy, Table>> = {};
  let lone: LoneCaller | undefined;
  let ceiling: number | undefined;
  for (const policy of POLICIES) {
    await using rig = await BenchRig.start({
      cost: { groupMs: SERVICE_MS, maxBatch: GROUP },
      settings: { 'batching.policy': policy },
    });
    policies[policy] = await measureTable({ rig, load, policy, callers: CALLERS, loads: LOADS, prepMs: 0 });
    if (policy === 'adaptive') {
      lone = await loneCaller(rig);
      ceiling = await directGroups(rig);
    }
  }
  const prepared = await measurePrepared(load);
  const results = {
    serviceMs: SERVICE_MS,
    idealPerS: IDEAL_PER_S,
    ...policies,
    [`prep${PREP_MS}ms`]: prepared,
    lone,
    directGroupsOf8: ceiling,
  };
  return { results, goals: goals(policies.adaptive ?? {}, prepared, lone) };
}

function goals(adaptive: Table, prepared: Table, lone: LoneCaller | undefined): BenchResult['goals'] {
  const least = (table: Table, ...names: string[]): number =>
    Math.min(...names.map(name => table[name]?.measured.fraction ?? 0));
  const halfLoad = adaptive['poisson 50 %']?.measured.p99Ms ?? Infinity;
  return [
    atLeast('fraction of ideal, c >= 16', least(adaptive, 'c=16', 'c=64', 'c=512'), 0.97),
    atLeast('fraction of ideal, c = 8', least(adaptive, 'c=8'), 0.85),
    atMost('p99 at 50 % load, service times', halfLoad / SERVICE_MS, 2.3),
    atMost('lone BATCH caller, added p50 ms', lone?.addedBatchMs ?? Infinity, 6),
    atMost('lone REALTIME caller, added p50 ms', lone?.addedRealtimeMs ?? Infinity, 1),
    atLeast(`fraction of ideal with ${PREP_MS} ms preparation, c >= 16`, least(prepared, 'c=16', 'c=64'), 0.97),
  ];
}

async function measurePrepared(load: LoadProcess): Promise<Table> {
  await using rig = await BenchRig.start({
    cost: { groupMs: SERVICE_MS, prepMs: PREP_MS, maxBatch: GROUP },
    prepParallel: GROUP, // the model prepares a group in 12 ms, whatever its size
  });
  return await measureTable({ rig, load, policy: 'adaptive', callers: [8, 16, 64], loads: [], prepMs: PREP_MS });
}

interface TableOptions {
  readonly rig: BenchRig;
  readonly load: LoadProcess;
  readonly policy: Policy;
  readonly callers: readonly number[];
  readonly loads: readonly number[];
  readonly prepMs: number;
}

async function measureTable(options: TableOptions): Promise<Table> {
  const { policy, prepMs } = options;
  const rows: Record<string, Row> = {};
  const add = async (name: string, arrivals: LoadArrivals & ModelArrivals): Promise<void> => {
    const measured = await measureRounds(options, arrivals);
    rows[name] = { measured, predicted: predict(policy, arrivals, prepMs) };
    progress(`  ${policy} prep ${prepMs} ms ${name}: ${describe(rows[name])}`);
  };
  await options.load.run(warmUp(options.rig.gateway.port));
  for (const callers of options.callers) await add(`c=${callers}`, { kind: 'closed', callers });
  for (const load of options.loads) {
    await add(`poisson ${load * 100} %`, { kind: 'poisson', ratePerS: load * IDEAL_PER_S });
  }
  return rows;
}

async function measureRounds({ rig, load, policy }: TableOptions, arrivals: LoadArrivals): Promise<Measured> {
  const rounds: Measured[] = [];
  for (let round = 0; round < (policy === 'adaptive' ? GOAL_ROUNDS : 1); round++) {
    const before = await groupCounts(rig);
    const report = await load.run(loadJob(rig.gateway.port, arrivals, round));
    const after = await groupCounts(rig);
    rounds.push({
      fraction: report.requestsPerS / IDEAL_PER_S,
      p50Ms: report.latencyMs.p50,
      p99Ms: report.latencyMs.p99,
      groupSize: (after.sum - before.sum) / (after.count - before.count),
      deviceP50Ms: report.headers[DEVICE_MS]?.p50 ?? 0,
    });
  }
  const middle = (pick: (round: Measured) => number): number => rounded(median(rounds.map(pick)));
  return {
    fraction: middle(round => round.fraction),
    p50Ms: middle(round => round.p50Ms),
    p99Ms: middle(round => round.p99Ms),
    groupSize: middle(round => round.groupSize),
    deviceP50Ms: middle(round => round.deviceP50Ms ?? 0),
  };
}

/** A server that has just started runs cold code, 2 ms slower per request: nobody wants to know that of a service. */
const warmUp = (port: number): LoadJob => ({ ...loadJob(port, { kind: 'closed', callers: 64 }, 0), durationMs: 5000 });

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

function predict(policy: Policy, arrivals: ModelArrivals, prepMs: number): Measured {
  const prediction = predictWindow({ policy, arrivals, prepMs, groupCostMs: () => SERVICE_MS });
  return {
    fraction: rounded(prediction.requestsPerS / IDEAL_PER_S),
    p50Ms: rounded(prediction.p50Ms),
    p99Ms: rounded(prediction.p99Ms),
    groupSize: rounded(prediction.groupSize),
  };
}

interface LoneCaller {
  readonly directP50Ms: number;
  readonly addedBatchMs: number;
  readonly addedRealtimeMs: number;
}

/** One caller, three ways in turn, so that all see the same machine: straight to the worker, BATCH and REALTIME. */
async function loneCaller(rig: BenchRig): Promise<LoneCaller> {
  using worker = new WorkerClient(rig.worker.address);
  const connection = new HttpConnection(rig.gateway.port);
  const audio = silentWav();
  const ways: Record<'direct' | 'batch' | 'realtime', () => Promise<unknown>> = {
    direct: () => worker.transcribe(audio, 'silence.wav', RequestPriority.REALTIME),
    batch: () => connection.exchange(transcriptionRequest({ model: BENCH_MODEL, priority: 'batch' })),
    realtime: () => connection.exchange(transcriptionRequest({ model: BENCH_MODEL, priority: 'realtime' })),
  };
  const series = { direct: [] as number[], batch: [] as number[], realtime: [] as number[] };
  for (let call = -10; call < LONE_CALLS; call++) {
    for (const way of ['direct', 'batch', 'realtime'] as const) {
      const startMs = performance.now();
      await ways[way]();
      if (call >= 0) series[way].push(performance.now() - startMs);
    }
  }
  connection.destroy();
  const direct = distribution(series.direct);
  return {
    directP50Ms: direct.p50,
    addedBatchMs: rounded(distribution(series.batch).p50 - direct.p50),
    addedRealtimeMs: rounded(distribution(series.realtime).p50 - direct.p50),
  };
}

/**
 * The most that c = 8 could reach: groups of 8 straight to the worker, the next when the last answer is in. What is
 * missing to 1 is grpc-js and the machine; only what c = 8 lacks beyond this is the gateway's.
 */
async function directGroups(rig: BenchRig): Promise<number> {
  using worker = new WorkerClient(rig.worker.address);
  const audio = silentWav();
  const series: number[] = [];
  for (let group = -20; group < LONE_CALLS; group++) {
    const startMs = performance.now();
    await worker.transcribeGroup(audio, GROUP);
    if (group >= 0) series.push(performance.now() - startMs);
  }
  return rounded(SERVICE_MS / distribution(series).mean);
}

function describe({ measured, predicted }: Row): string {
  const side = (side: Measured): string =>
    `${side.fraction.toFixed(3)} of ideal, p50 ${side.p50Ms.toFixed(0)} p99 ${side.p99Ms.toFixed(0)} ms, ` +
    `groups of ${side.groupSize.toFixed(1)}${side.deviceP50Ms === undefined ? '' : `, device ${side.deviceP50Ms} ms`}`;
  return `${side(measured)} (model: ${side(predicted)})`;
}

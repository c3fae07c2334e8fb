import { atLeast, progress, type BenchResult } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { transcriptionRequest } from './support/http-request.js';
import { type LoadArrivals, type LoadReport } from './support/load-job.js';
import { LoadProcess } from './support/load-process.js';
import { PassthroughProcess } from './support/passthrough-process.js';
import { median, rounded } from './support/percentiles.js';
import { BENCH_MODEL } from './support/synthetic-model.js';

const ROUNDS = 5;
/** Larger than the callers: the bench is about the path, so neither slots nor group size may limit it. */
const MAX_BATCH = 64;

type Priority = 'realtime' | 'batch';

interface Scenario {
  readonly name: string;
  readonly priority: Priority;
  readonly arrivals: LoadArrivals;
}

/** `saturated` asks for requests per second; `light` and `lone` for the milliseconds that the scheduler adds. */
const SCENARIOS: readonly Scenario[] = [
  { name: 'saturated, BATCH', priority: 'batch', arrivals: { kind: 'closed', callers: 64 } },
  { name: 'saturated, REALTIME', priority: 'realtime', arrivals: { kind: 'closed', callers: 64 } },
  { name: 'light, REALTIME', priority: 'realtime', arrivals: { kind: 'poisson', ratePerS: 100 } },
  { name: 'lone, REALTIME', priority: 'realtime', arrivals: { kind: 'closed', callers: 1 } },
];

interface Comparison {
  readonly gatewayPerS: number;
  readonly barePerS: number;
  readonly fraction: number;
  readonly addedP50Ms: number;
  readonly addedP99Ms: number;
}

/** What do queue, slots, ids, validation, metrics and cancel cost, beside a Fastify that only forwards? */
export async function run(): Promise<BenchResult> {
  await using rig = await BenchRig.start({
    cost: { groupMs: 0, maxBatch: MAX_BATCH },
    settings: { 'batching.max_size': MAX_BATCH },
  });
  await using peer = await PassthroughProcess.start(rig.worker.address, rig.folder);
  await using load = new LoadProcess();
  const results: Record<string, Comparison> = {};
  for (const scenario of SCENARIOS) {
    results[scenario.name] = await compare(load, scenario, { gateway: rig.gateway.port, bare: peer.port });
    progress(`  ${scenario.name}: ${JSON.stringify(results[scenario.name])}`);
  }
  const fractionOf = (name: string): number => results[name]?.fraction ?? 0;
  return {
    results,
    goals: [
      atLeast('requests/s of a bare passthrough, BATCH', fractionOf('saturated, BATCH'), 0.6),
      atLeast('requests/s of a bare passthrough, REALTIME', fractionOf('saturated, REALTIME'), 0.6),
    ],
  };
}

/** Both in turn within each round, so that a slow minute of the machine hits both; medians over the rounds. */
async function compare(
  load: LoadProcess,
  { priority, arrivals }: Scenario,
  ports: { readonly gateway: number; readonly bare: number },
): Promise<Comparison> {
  const rounds: { gateway: LoadReport; bare: LoadReport }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const job = {
      request: transcriptionRequest({ model: BENCH_MODEL, priority }),
      arrivals,
      warmupMs: round === 0 ? 1500 : 300,
      durationMs: 1700,
      seed: round + 1,
    };
    const bare = checked(await load.run({ ...job, port: ports.bare }));
    rounds.push({ bare, gateway: checked(await load.run({ ...job, port: ports.gateway })) });
  }
  const middle = (pick: (round: { gateway: LoadReport; bare: LoadReport }) => number): number =>
    rounded(median(rounds.map(pick)));
  return {
    gatewayPerS: middle(({ gateway }) => gateway.requestsPerS),
    barePerS: middle(({ bare }) => bare.requestsPerS),
    fraction: middle(({ gateway, bare }) => gateway.requestsPerS / bare.requestsPerS),
    addedP50Ms: middle(({ gateway, bare }) => gateway.latencyMs.p50 - bare.latencyMs.p50),
    addedP99Ms: middle(({ gateway, bare }) => gateway.latencyMs.p99 - bare.latencyMs.p99),
  };
}

/** A fast refusal is no throughput. */
function checked(report: LoadReport): LoadReport {
  const failed = Object.keys(report.statuses).filter(status => status !== '200');
  if (failed.length > 0) throw new Error(`expected 200 only, got ${JSON.stringify(report.statuses)}`);
  return report;
}

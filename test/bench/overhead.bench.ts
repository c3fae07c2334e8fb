import { transcriptionRequest } from '../support/http-request.js';
import { BENCH_MODEL } from './support/bench-model.js';
import { atLeast, progress, type BenchResult } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { type LoadArrivals, type LoadJob } from './support/load-job.js';
import { LoadProcess } from './support/load-process.js';
import { type LoadedServer, type MeasuredLoad, measuredLoad } from './support/measured-load.js';
import { PassthroughProcess } from './support/passthrough-process.js';
import { median, rounded } from './support/percentiles.js';

/** Many short turns: noise of the machine then falls on both sides. */
const ROUNDS = 9;
/**
 * Larger than the callers: the bench is about the path, so neither slots nor group size
 * may limit it.
 */
const MAX_BATCH = 64;

/** Some 20,000 requests to each, after which V8 has compiled what it will compile. */
const WARMUP_MS = 20_000;

type Priority = 'realtime' | 'batch';

interface Scenario {
  readonly name: string;
  readonly priority: Priority;
  readonly arrivals: LoadArrivals;
}

/**
 * `saturated` asks for requests per second; `light` and `lone` for the milliseconds that
 * the scheduler adds.
 */
const SCENARIOS: readonly Scenario[] = [
  {
    name: 'saturated, BATCH',
    priority: 'batch',
    arrivals: { kind: 'closed', callers: 64 },
  },
  {
    name: 'saturated, REALTIME',
    priority: 'realtime',
    arrivals: { kind: 'closed', callers: 64 },
  },
  {
    name: 'light, REALTIME',
    priority: 'realtime',
    arrivals: { kind: 'poisson', ratePerS: 100 },
  },
  {
    name: 'lone, REALTIME',
    priority: 'realtime',
    arrivals: { kind: 'closed', callers: 1 },
  },
];

interface Comparison {
  readonly gatewayPerS: number;
  readonly barePerS: number;
  readonly fraction: number;
  /**
   * CPU of the gateway process and of the peer, per request: what is left when noise
   * is taken away.
   */
  readonly gatewayCpuMs: number;
  readonly bareCpuMs: number;
  readonly addedP50Ms: number;
  readonly addedP99Ms: number;
}

/**
 * What do queue, slots, ids, validation, metrics and cancel cost, beside a Fastify
 * that only forwards?
 */
export async function run(): Promise<BenchResult> {
  await using rig = await BenchRig.start({
    cost: { groupMs: 0, maxBatch: MAX_BATCH },
    settings: { 'batching.max_size': MAX_BATCH },
  });
  await using peer = await PassthroughProcess.start(rig.worker.address, rig.folder);
  await using load = new LoadProcess();
  const servers = { gateway: rig.gateway, bare: peer };
  for (const { port } of Object.values(servers)) await load.run(warmUp(port));
  const results: Record<string, Comparison> = {};
  for (const scenario of SCENARIOS) {
    results[scenario.name] = await compare(load, scenario, servers);
    progress(`  ${scenario.name}: ${JSON.stringify(results[scenario.name])}`);
  }
  const fractionOf = (name: string): number => results[name]?.fraction ?? 0;
  return {
    results,
    goals: [
      atLeast('requests/s of a bare passthrough, BATCH', fractionOf('saturated, BATCH'), 0.85),
      atLeast(
        'requests/s of a bare passthrough, REALTIME',
        fractionOf('saturated, REALTIME'),
        0.85,
      ),
    ],
  };
}

const warmUp = (port: number): LoadJob => ({
  ...{ port, request: transcriptionRequest({ model: BENCH_MODEL, priority: 'batch' }) },
  ...{ arrivals: { kind: 'closed', callers: 64 }, warmupMs: 0, durationMs: WARMUP_MS },
});

/**
 * Both in turn within each round, so that a slow minute of the machine hits both; medians
 * over the rounds.
 */
async function compare(
  load: LoadProcess,
  { priority, arrivals }: Scenario,
  servers: { readonly gateway: LoadedServer; readonly bare: LoadedServer },
): Promise<Comparison> {
  const request = transcriptionRequest({ model: BENCH_MODEL, priority });
  const rounds: { gateway: MeasuredLoad; bare: MeasuredLoad }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const job = {
      request,
      arrivals,
      warmupMs: round === 0 ? 1500 : 200,
      durationMs: 1000,
      seed: round + 1,
    };
    const bare = await measuredLoad(load, job, servers.bare);
    rounds.push({ bare, gateway: await measuredLoad(load, job, servers.gateway) });
  }
  const middle = (pick: (round: { gateway: MeasuredLoad; bare: MeasuredLoad }) => number): number =>
    rounded(median(rounds.map(pick)));
  return {
    gatewayPerS: middle(({ gateway }) => gateway.report.requestsPerS),
    barePerS: middle(({ bare }) => bare.report.requestsPerS),
    fraction: middle(({ gateway, bare }) => gateway.report.requestsPerS / bare.report.requestsPerS),
    gatewayCpuMs: middle(({ gateway }) => gateway.cpuMs),
    bareCpuMs: middle(({ bare }) => bare.cpuMs),
    addedP50Ms: middle(
      ({ gateway, bare }) => gateway.report.latencyMs.p50 - bare.report.latencyMs.p50,
    ),
    addedP99Ms: middle(
      ({ gateway, bare }) => gateway.report.latencyMs.p99 - bare.report.latencyMs.p99,
    ),
  };
}

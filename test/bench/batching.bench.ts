import { RequestPriority } from '../../src/core/request/request-priority.js';
import { HttpConnection } from '../support/http-connection.js';
import { silentWav, transcriptionRequest } from '../support/http-request.js';
import { BENCH_MODEL } from './support/bench-model.js';
import { atLeast, atMost, type BenchResult } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { LoadProcess } from './support/load-process.js';
import { distribution, rounded } from './support/percentiles.js';
import {
  GROUP,
  IDEAL_PER_S,
  measureTable,
  POLICIES,
  type Policy,
  SERVICE_MS,
  type Table,
} from './support/window-table.js';
import { WorkerClient } from './support/worker-client.js';

const PREP_MS = 12;
const CALLERS = [1, 8, 16, 64, 512];
const LOADS = [0.5, 0.9];
const LONE_CALLS = 100;

/**
 * Does the window fill groups without making anybody wait? One lane, 20 ms per group of
 * up to 8 (D-02, D-24).
 */
export async function run(): Promise<BenchResult> {
  await using load = new LoadProcess();
  const policies: Partial<Record<Policy, Table>> = {};
  let lone: LoneCaller | undefined;
  let [ceiling, urgent] = [0, 0];
  for (const policy of POLICIES) {
    await using rig = await BenchRig.start({
      cost: { groupMs: SERVICE_MS, maxBatch: GROUP },
      settings: { 'batching.policy': policy },
    });
    policies[policy] = await measureTable({
      rig,
      load,
      policy,
      callers: CALLERS,
      loads: LOADS,
      prepMs: 0,
    });
    if (policy === 'adaptive') {
      lone = await loneCaller(rig);
      ceiling = await directGroups(rig);
      urgent = await urgentCallers(rig, load);
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
    [`realtime c=${GROUP}`]: urgent,
  };
  const eight = atLeast('fraction of ideal, 8 REALTIME callers', urgent, 0.75);
  return { results, goals: [...goals(policies.adaptive ?? {}, prepared, lone), eight] };
}

function goals(
  adaptive: Table,
  prepared: Table,
  lone: LoneCaller | undefined,
): BenchResult['goals'] {
  const least = (table: Table, ...names: string[]): number =>
    Math.min(...names.map(name => table[name]?.measured.fraction ?? 0));
  const halfLoad = adaptive['poisson 50 %']?.measured.p99Ms ?? Infinity;
  return [
    atLeast('fraction of ideal, c >= 16', least(adaptive, 'c=16', 'c=64', 'c=512'), 0.97),
    atLeast('fraction of ideal, c = 8', least(adaptive, 'c=8'), 0.85),
    atMost('p99 at 50 % load, service times', halfLoad / SERVICE_MS, 2.3),
    atMost('lone BATCH caller, added p50 ms', lone?.addedBatchMs ?? Infinity, 6),
    atMost('lone REALTIME caller, added p50 ms', lone?.addedRealtimeMs ?? Infinity, 1),
    atLeast(
      `fraction of ideal with ${PREP_MS} ms preparation, c >= 16`,
      least(prepared, 'c=16', 'c=64'),
      0.97,
    ),
  ];
}

async function measurePrepared(load: LoadProcess): Promise<Table> {
  await using rig = await BenchRig.start({
    cost: { groupMs: SERVICE_MS, prepMs: PREP_MS, maxBatch: GROUP },
    prepParallel: GROUP, // the model prepares a group in 12 ms, whatever its size
  });
  return await measureTable({
    rig,
    load,
    policy: 'adaptive',
    callers: [8, 16, 64],
    loads: [],
    prepMs: PREP_MS,
  });
}

interface LoneCaller {
  readonly directP50Ms: number;
  readonly addedBatchMs: number;
  readonly addedRealtimeMs: number;
}

/**
 * One caller, three ways in turn, so that all see the same machine: straight to the
 * worker, BATCH and REALTIME.
 */
async function loneCaller(rig: BenchRig): Promise<LoneCaller> {
  using worker = new WorkerClient(rig.worker.address);
  const connection = new HttpConnection(rig.gateway.port);
  const audio = silentWav();
  const ways: Record<'direct' | 'batch' | 'realtime', () => Promise<unknown>> = {
    direct: () => worker.transcribe(audio, 'silence.wav', RequestPriority.REALTIME),
    batch: () =>
      connection.exchange(transcriptionRequest({ model: BENCH_MODEL, priority: 'batch' })),
    realtime: () =>
      connection.exchange(transcriptionRequest({ model: BENCH_MODEL, priority: 'realtime' })),
  };
  const series = {
    direct: [] as number[],
    batch: [] as number[],
    realtime: [] as number[],
  };
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
 * REALTIME skips the window: what makes one group of them is the device's wait for
 * their return (D-24).
 */
async function urgentCallers(rig: BenchRig, load: LoadProcess): Promise<number> {
  const request = transcriptionRequest({ model: BENCH_MODEL, priority: 'realtime' });
  const arrivals = { kind: 'closed', callers: GROUP } as const;
  const report = await load.run({
    port: rig.gateway.port,
    request,
    arrivals,
    warmupMs: 1000,
    durationMs: 5000,
  });
  return rounded(report.requestsPerS / IDEAL_PER_S);
}

/**
 * The most that c = 8 could reach: groups of 8 straight to the worker, the next when the
 * last answer is in. What is missing to 1 is grpc-js and the machine; only what c = 8
 * lacks beyond this is the gateway's.
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

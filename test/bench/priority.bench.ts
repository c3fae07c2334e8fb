import { type GatewayProcess } from '../support/gateway-process.js';
import { transcriptionRequest } from '../support/http-request.js';
import { pause } from '../support/waiting.js';
import { BENCH_MODEL } from './support/bench-model.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { LoadProcess } from './support/load-process.js';
import { distribution, rounded } from './support/percentiles.js';

const SERVICE_MS = 20;
const GROUP = 8;
/** One group on the device and one prepared ahead (D-24). */
const SLOTS = 2 * GROUP;
const QUEUED = 1000;
const REALTIME_PER_S = 20;
const WARMUP_MS = (QUEUED / GROUP) * SERVICE_MS + 1000;
const DURATION_MS = 25_000;
const QUEUE_WAIT = 'x-switchyard-queue-ms';

/**
 * Does an interactive user wait behind bulk work? REALTIME arrivals while 1,000 BATCH
 * requests stand in the queue.
 */
export async function run(): Promise<BenchResult> {
  await using rig = await BenchRig.start({
    cost: { groupMs: SERVICE_MS, maxBatch: GROUP },
  });
  await using bulk = new LoadProcess();
  await using interactive = new LoadProcess();
  const job = {
    port: rig.gateway.port,
    warmupMs: WARMUP_MS,
    durationMs: DURATION_MS,
    numericHeaders: [QUEUE_WAIT],
  };
  const [batch, realtime, depths] = await Promise.all([
    bulk.run({
      ...job,
      request: transcriptionRequest({ model: BENCH_MODEL, priority: 'batch' }),
      arrivals: { kind: 'closed', callers: QUEUED + SLOTS },
    }),
    interactive.run({
      ...job,
      request: transcriptionRequest({ model: BENCH_MODEL, priority: 'realtime' }),
      arrivals: { kind: 'poisson', ratePerS: REALTIME_PER_S },
    }),
    sampleDepth(rig.gateway),
  ]);
  const waitMs = realtime.headers[QUEUE_WAIT] ?? distribution([]);
  progress(`  REALTIME queue wait: ${JSON.stringify(waitMs)}`);
  return {
    results: {
      serviceMs: SERVICE_MS,
      queuedBatch: distribution(depths),
      realtimeQueueWaitMs: waitMs,
      realtimeLatencyMs: realtime.latencyMs,
      batchQueueWaitMs: batch.headers[QUEUE_WAIT],
      batchPerS: rounded(batch.requestsPerS),
    },
    goals: [
      atMost(
        'REALTIME queue wait p99, service times',
        waitMs.count > 0 ? waitMs.p99 / SERVICE_MS : Infinity,
        1,
      ),
    ],
  };
}

/**
 * BATCH requests waiting, once a second while REALTIME is measured: the claim "with
 * 1,000 queued", checked.
 */
async function sampleDepth(gateway: GatewayProcess): Promise<number[]> {
  await pause(WARMUP_MS);
  const depths: number[] = [];
  for (
    const endMs = performance.now() + DURATION_MS;
    performance.now() < endMs;
    await pause(1000)
  ) {
    depths.push((await gateway.scrape()).sum('scheduler_queue_depth', 'priority="batch"'));
  }
  return depths;
}

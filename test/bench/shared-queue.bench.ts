import { temporaryFolder } from '../support/temporary-folder.js';
import { benchModel } from './support/bench-model.js';
import { atLeast, atMost, type BenchResult, progress } from './support/bench-result.js';
import { median, rounded } from './support/percentiles.js';
import { type SharedQueueRig, startSharedQueueRig } from './support/shared-queue-rig.js';
import { twoDrivers } from './support/two-drivers.js';

/** Full groups of 6 every 60 ms on one device: 100 jobs a second for each worker. */
const COST = { groupMs: 60, itemMs: 0, prepMs: 0, maxBatch: 6 };
const LIMIT_PER_S = (COST.maxBatch / COST.groupMs) * 1000;
const WORKERS = [1, 2, 4];
const JOBS_PER_WORKER = 600;
const ROUNDS = 3;

interface Row {
  readonly perS: number;
  readonly ofLimit: number;
}

/**
 * What do Redis and pulling cost? A backlog worked off by 1, 2 and 4 pull workers,
 * against what their devices allow; and the same backlog by BullMQ's own `Worker` loop,
 * whose processor only sleeps as long as the device would for as many at a time. And one
 * request through either driver.
 */
export async function run(): Promise<BenchResult> {
  const folder = temporaryFolder();
  const pulled: Record<string, Row> = {};
  for (const workers of WORKERS) {
    await using rig = await startSharedQueueRig(benchModel(COST), folder, workers);
    pulled[`workers${workers}`] = await measure(rig, workers);
  }
  await using rig = await startSharedQueueRig(benchModel(COST), folder, 0);
  const bare = await bareLoop(rig);
  const drivers = await twoDrivers(folder);
  progress(`  one request: ${JSON.stringify(drivers)}`);
  const goals = WORKERS.map(workers =>
    atLeast(
      `${workers} pull workers, fraction of the limit`,
      pulled[`workers${workers}`]!.ofLimit,
      0.9,
    ),
  );
  goals.push(
    atMost('in-flight cancel at another gateway p95, ms', drivers.cancelElsewhereMs.p95, 50),
  );
  return {
    results: {
      ...COST,
      limitPerS: LIMIT_PER_S,
      pulled,
      bullmqWorkerLoop: bare,
      drivers,
    },
    goals,
  };
}

async function measure(rig: SharedQueueRig, workers: number): Promise<Row> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const jobs = JOBS_PER_WORKER * workers;
    const perS = await rig.workOff(jobs);
    // The first warms connections and code up.
    if (round > 0) rounds.push(perS);
    progress(`  ${workers} workers: ${rounded(perS)}/s`);
  }
  const perS = median(rounds);
  return { perS: rounded(perS), ofLimit: rounded(perS / (LIMIT_PER_S * workers)) };
}

/**
 * One process, as many jobs at a time as the device takes in a group: each sleeps as long
 * as a group would.
 */
async function bareLoop(rig: SharedQueueRig): Promise<Row> {
  const perS = await rig.workOffBare(JOBS_PER_WORKER, {
    atOnce: COST.maxBatch,
    sleepMs: COST.groupMs,
  });
  progress(`  BullMQ's own loop: ${rounded(perS)}/s`);
  return { perS: rounded(perS), ofLimit: rounded(perS / LIMIT_PER_S) };
}

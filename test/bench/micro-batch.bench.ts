import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TranscribeAnswer } from '../../src/contracts/grpc/stt.codec.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { silentWav } from '../support/http-request.js';
import { benchModel } from './support/bench-model.js';
import { atLeast, type BenchResult, progress } from './support/bench-result.js';
import { BenchWorker } from './support/bench-worker.js';
import { median, rounded } from './support/percentiles.js';
import { WorkerClient } from './support/worker-client.js';

/** A group of 8 costs 100 ms: 60 once and 5 for each. */
const COST = { groupMs: 60, itemMs: 5, prepMs: 25, maxBatch: 8 };
const PREP_PARALLEL = 4;
const GROUP_MS = COST.groupMs + COST.itemMs * COST.maxBatch;
/**
 * What the slower of the two stages allows: the device with full groups (80/s), or the
 * preparation (160/s).
 */
const LIMIT_PER_S = Math.min(
  (COST.maxBatch / GROUP_MS) * 1000,
  (PREP_PARALLEL / COST.prepMs) * 1000,
);
/**
 * As many as a worker is given by the scheduler: a group on the device and
 * one ahead (D-24).
 */
const IN_FLIGHT = COST.maxBatch * 2;
const ITEMS = 400;
const ROUNDS = 3;

interface Row {
  readonly perS: number;
  readonly ofLimit: number;
  /** Share of the time in which no engine call ran. */
  readonly deviceIdle: number;
  readonly groupSize: number;
}

type Way = (worker: WorkerClient, audio: Buffer, items: number) => Promise<TranscribeAnswer[]>;

/**
 * What do batching and overlap bring? One worker, the same items three ways in turn,
 * straight by gRPC.
 */
export async function run(): Promise<BenchResult> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  try {
    await using process = await BenchWorker.start(benchModel(COST), folder, {
      prepParallel: PREP_PARALLEL,
    });
    using worker = new WorkerClient(process.address);
    const audio = silentWav();
    await overlapped(worker, audio, 64);
    const results = await measureAll(worker, audio);
    const goals = [
      atLeast('overlapped, fraction of the limit', results.overlapped?.ofLimit ?? 0, 0.95),
    ];
    return {
      results: {
        ...COST,
        prepParallel: PREP_PARALLEL,
        limitPerS: LIMIT_PER_S,
        ...results,
      },
      goals,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(worker: WorkerClient, audio: Buffer): Promise<Record<string, Row>> {
  const ways: Record<string, Way> = { overlapped, oneGroupAtATime, oneByOne };
  const rounds: Record<string, Row[]> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      // A tenth is enough of the slow one.
      const row = await measure(way, worker, audio, name === 'oneByOne' ? ITEMS / 10 : ITEMS);
      (rounds[name] ??= []).push(row);
      progress(`  ${name}: ${JSON.stringify(row)}`);
    }
  }
  return Object.fromEntries(Object.entries(rounds).map(([name, rows]) => [name, middle(rows)]));
}

async function measure(way: Way, worker: WorkerClient, audio: Buffer, items: number): Promise<Row> {
  const startMs = performance.now();
  const answers = await way(worker, audio, items);
  const tookMs = performance.now() - startMs;
  const calls = new Map(answers.map(({ execution }) => [execution.batchId, execution.deviceMs]));
  const deviceMs = [...calls.values()].reduce((sum, ms) => sum + ms, 0);
  const perS = (items / tookMs) * 1000;
  return {
    perS: rounded(perS),
    ofLimit: rounded(perS / LIMIT_PER_S),
    deviceIdle: rounded(1 - deviceMs / tookMs),
    groupSize: rounded(items / calls.size),
  };
}

function middle(rows: readonly Row[]): Row {
  const of = (pick: (row: Row) => number): number => rounded(median(rows.map(pick)));
  return {
    perS: of(row => row.perS),
    ofLimit: of(row => row.ofLimit),
    deviceIdle: of(row => row.deviceIdle),
    groupSize: of(row => row.groupSize),
  };
}

/** The worker's own way: the next group is prepared while one is on the device. */
const overlapped: Way = async (worker, audio, items) => {
  const answers: TranscribeAnswer[] = [];
  let left = items;
  const caller = async (): Promise<void> => {
    while (left-- > 0) answers.push(await alone(worker, audio));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  return answers;
};

/**
 * Without overlap: a group is prepared, computed and answered before the next
 * one is sent.
 */
const oneGroupAtATime: Way = async (worker, audio, items) => {
  const answers: TranscribeAnswer[] = [];
  while (answers.length < items)
    answers.push(...(await worker.transcribeGroup(audio, COST.maxBatch)));
  return answers;
};

/**
 * Without batching: an item is prepared, computed and answered before the next
 * one is sent.
 */
const oneByOne: Way = async (worker, audio, items) => {
  const answers: TranscribeAnswer[] = [];
  while (answers.length < items) answers.push(await alone(worker, audio));
  return answers;
};

const alone = (worker: WorkerClient, audio: Buffer): Promise<TranscribeAnswer> =>
  worker.transcribe(audio, 'silence.wav', RequestPriority.BATCH);

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BatchHarness } from '../support/batch-harness.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { NodeProcess } from '../support/node-process.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { TargetServer } from '../support/target-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';
import { FULL_LINES, fullBatchFile } from './support/batch-input.js';
import { atMost, progress, type BenchResult } from './support/bench-result.js';
import { median, rounded } from './support/percentiles.js';
import { peakRssMib } from './support/process-memory.js';
import { siblingModule } from './support/sibling-module.js';

const ROUNDS = 3;
const MOST_GROWTH_MIB = 64;
const MOST_DELAY_MS = 20;
const never = new Promise<never>(() => undefined);

interface Ingestion {
  readonly linesPerS: number;
  /** Peak of the process less what it had before the job. */
  readonly growthMib: number;
}

/**
 * What does reading a full batch file cost: time, memory, and the gateway beside it? New
 * processes each time.
 */
export async function run(): Promise<BenchResult> {
  const file = fullBatchFile();
  const rounds: { processor: Ingestion; naive: Ingestion; gateway: Delays }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      processor: await ingest(file),
      naive: await ingestNaively(file),
      gateway: await besideGateway(file),
    });
    progress(`  ${JSON.stringify(rounds.at(-1))}`);
  }
  const middle = (pick: (round: (typeof rounds)[number]) => number): number =>
    rounded(median(rounds.map(pick)));
  const growth = middle(({ processor }) => processor.growthMib);
  const delay = middle(({ gateway }) => gateway.busyP99Ms);
  return {
    results: {
      lines: FULL_LINES,
      fileMib: rounded(file.length / 1_048_576),
      linesPerS: middle(({ processor }) => processor.linesPerS),
      naiveLinesPerS: middle(({ naive }) => naive.linesPerS),
      growthMib: growth,
      naiveGrowthMib: middle(({ naive }) => naive.growthMib),
      gatewayDelayP99Ms: delay,
      gatewayIdleDelayP99Ms: middle(({ gateway }) => gateway.idleP99Ms),
      gatewayDelayMaxMs: middle(({ gateway }) => gateway.busyMaxMs),
    },
    goals: [
      atMost('growth of the peak while 200 MiB are read, MiB', growth, MOST_GROWTH_MIB),
      atMost('event-loop delay p99 of the gateway beside it, ms', delay, MOST_DELAY_MS),
    ],
  };
}

/**
 * From the row's creation until the job is `in_progress`: claim, copy, validation, plans,
 * sync. No line is answered.
 */
async function ingest(file: Buffer): Promise<Ingestion> {
  await using target = await TargetServer.start(() => never);
  await using harness = await BatchHarness.towards(target, { 'batch.poll_ms': 10 });
  const processor = harness.start();
  await processor.message('ready');
  await pause(500);
  const beforeMib = peakRssMib(processor.child.pid);
  const tookMs = await ingestIn(harness, file);
  const growthMib = peakRssMib(processor.child.pid) - beforeMib;
  processor.child.kill('SIGKILL');
  return {
    linesPerS: rounded((FULL_LINES / tookMs) * 1000),
    growthMib: rounded(growthMib),
  };
}

async function ingestIn(harness: BatchHarness, file: Buffer): Promise<number> {
  const { id } = await harness.submit(file);
  const startMs = Date.now();
  const { reachedAtMs, status, problems } = await harness.until(
    id,
    'the end of ingestion',
    job => job.status !== 'validating',
    120_000,
  );
  if (problems.length > 0) throw new Error(`${status}: ${JSON.stringify(problems[0])}`);
  return reachedAtMs.in_progress! - startMs;
}

async function ingestNaively(file: Buffer): Promise<Ingestion> {
  const folder = temporaryFolder();
  const input = join(folder, 'input.jsonl');
  await writeFile(input, file);
  await using peer = new NodeProcess({
    name: 'naive',
    script: siblingModule(import.meta.url, './support/naive-ingest'),
    folder,
  });
  await peer.message('ready');
  const beforeMib = peakRssMib(peer.child.pid);
  const done = peer.message<{ type: 'done'; lines: number; tookMs: number }>('done');
  peer.child.send({ input, folder });
  const { lines, tookMs } = await done;
  const growthMib = peakRssMib(peer.child.pid) - beforeMib;
  return {
    linesPerS: rounded((lines / tookMs) * 1000),
    growthMib: rounded(growthMib),
  };
}

interface Delays {
  readonly idleP99Ms: number;
  readonly busyP99Ms: number;
  readonly busyMaxMs: number;
}

/**
 * The gateway brings its processor along, as by default. Its own histogram of the event
 * loop, reset by each scrape.
 */
async function besideGateway(file: Buffer): Promise<Delays> {
  const folder = temporaryFolder();
  const settings = { 'batch.embedded': 'true', 'batch.poll_ms': 10 };
  await using gateway = await GatewayProcess.start([syntheticModel({})], settings, {
    folder,
  });
  await using harness = await BatchHarness.open({ dataDir: join(folder, 'data') });
  try {
    await pause(2000);
    await gateway.scrape();
    await pause(3000);
    const idle = await gateway.scrape();
    await ingestIn(harness, file);
    const busy = await gateway.scrape();
    const ms = (scrape: typeof idle, name: string): number =>
      rounded(scrape.sum(`nodejs_eventloop_lag_${name}_seconds`) * 1000);
    return {
      idleP99Ms: ms(idle, 'p99'),
      busyP99Ms: ms(busy, 'p99'),
      busyMaxMs: ms(busy, 'max'),
    };
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
}

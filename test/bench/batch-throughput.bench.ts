import { join, resolve } from 'node:path';
import { BatchHarness, TENANT } from '../support/batch-harness.js';
import { silentWav, transcriptionRequest } from '../support/http-request.js';
import { NodeProcess } from '../support/node-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type BareJob } from './support/bare-client.js';
import { BENCH_MODEL } from './support/bench-model.js';
import { atLeast, atMost, progress, type BenchResult } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { LoadProcess } from './support/load-process.js';
import { median, rounded } from './support/percentiles.js';
import { processCpuMs } from './support/process-cpu.js';
import { siblingModule } from './support/sibling-module.js';

const ROUNDS = 5;
/** So many that what a job costs once (opening its log, its rows) is a hundredth. */
const LINES = 30_000;
const CALLERS = [10, 64];
/**
 * A device of 50 ms per group, busy half of the time with the interactive requests alone.
 */
const GROUP_MS = 50;
const INTERACTIVE_PER_S = 10;
const INTERACTIVE_ROUNDS = 3;
const AUDIO_LINES = 20_000;
const MODEL = 'bench';

interface Rate {
  readonly linesPerS: number;
  /** CPU of the process, per line. */
  readonly cpuMs: number;
}

/**
 * Of one round: the processor, and the loops over `node:http` and over the
 * processor's own library.
 */
interface Round {
  readonly batch: Rate;
  readonly bare: Rate;
  readonly undici: Rate;
}

interface Throughput {
  readonly linesPerS: number;
  readonly barePerS: number;
  readonly fraction: number;
  readonly undiciPerS: number;
  readonly ofUndici: number;
  readonly lineCpuMs: number;
  readonly bareCpuMs: number;
  readonly undiciCpuMs: number;
}

/**
 * How near does the processor come to a bare HTTP loop, and does an interactive
 * user notice it?
 */
export async function run(): Promise<BenchResult> {
  const results: Record<string, unknown> = {};
  const fractions: number[] = [];
  for (const callers of CALLERS) {
    const row = await throughput(callers);
    results[`${callers} in flight`] = row;
    fractions.push(row.fraction);
    progress(`  ${callers} in flight: ${JSON.stringify(row)}`);
  }
  const beside = await interactive();
  results.interactive = beside;
  return {
    results,
    goals: [
      ...fractions.map((value, index) =>
        atLeast(`of the bare loop's rate, ${CALLERS[index]} in flight`, value, 0.8),
      ),
      atMost('interactive p99 with a batch / without', beside.ratio, 1.1),
    ],
  };
}

/**
 * In turns against the same target; from `in_progress` to `finalizing`, so that ingestion
 * and files are left out.
 */
async function throughput(callers: number): Promise<Throughput> {
  const folder = temporaryFolder();
  await using target = peer('target', resolve('test/support/target-process.mjs'), folder);
  const port = await target.port();
  await using harness = await BatchHarness.open({
    settings: {
      'batch.gateway_url': `http://127.0.0.1:${port}`,
      'batch.poll_ms': 20,
      'batch.concurrency': callers,
      'batch.concurrency_per_model': callers,
    },
  });
  await using bare = peer('bare', siblingModule(import.meta.url, './support/bare-client'), folder);
  await bare.message('ready');
  const processor = harness.start();
  const rounds: Round[] = [];
  // The first is the warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    const job = { port, callers, count: LINES, body: body('x') };
    const rates = {
      batch: await batchRate(harness, processor),
      bare: await bareRate(bare, { ...job, client: 'node:http' }),
      undici: await bareRate(bare, { ...job, client: 'undici' }),
    };
    if (round > 0) rounds.push(rates);
  }
  return summary(rounds);
}

function summary(rounds: readonly Round[]): Throughput {
  const middle = (pick: (round: Round) => number): number => rounded(median(rounds.map(pick)));
  return {
    linesPerS: middle(({ batch }) => batch.linesPerS),
    barePerS: middle(({ bare }) => bare.linesPerS),
    fraction: middle(({ batch, bare }) => batch.linesPerS / bare.linesPerS),
    undiciPerS: middle(({ undici }) => undici.linesPerS),
    ofUndici: middle(({ batch, undici }) => batch.linesPerS / undici.linesPerS),
    lineCpuMs: middle(({ batch }) => batch.cpuMs),
    bareCpuMs: middle(({ bare }) => bare.cpuMs),
    undiciCpuMs: middle(({ undici }) => undici.cpuMs),
  };
}

async function batchRate(harness: BatchHarness, { child }: NodeProcess): Promise<Rate> {
  const lines = Array.from({ length: LINES }, (_, index) =>
    line(`line-${index}`, '/v1/chat/completions', body('x')),
  );
  const beforeMs = processCpuMs(child.pid);
  const { id } = await harness.submit(lines);
  const { reachedAtMs, counts } = await harness.untilEnd(id, 120_000);
  if (counts.completed !== LINES)
    throw new Error(`${counts.completed} of ${LINES} lines completed`);
  const tookMs = reachedAtMs.finalizing! - reachedAtMs.in_progress!;
  return {
    linesPerS: (LINES / tookMs) * 1000,
    cpuMs: (processCpuMs(child.pid) - beforeMs) / LINES,
  };
}

async function bareRate(bare: NodeProcess, job: BareJob): Promise<Rate> {
  const beforeMs = processCpuMs(bare.child.pid);
  const done = bare.message<{ type: 'done'; tookMs: number }>('done');
  bare.child.send(job);
  const { tookMs } = await done;
  return {
    linesPerS: (job.count / tookMs) * 1000,
    cpuMs: (processCpuMs(bare.child.pid) - beforeMs) / job.count,
  };
}

interface Interactive {
  readonly p99Ms: number;
  readonly besideBatchP99Ms: number;
  readonly ratio: number;
  /**
   * Lines per second while it was measured: a batch that stands still disturbs nobody.
   */
  readonly linesPerS: number;
}

/**
 * The product as it starts by default: lines come back over loopback at BATCH priority,
 * to the model that a user talks to.
 */
async function interactive(): Promise<Interactive> {
  await using rig = await BenchRig.start({
    cost: { groupMs: GROUP_MS, maxBatch: 8 },
    settings: { 'batch.embedded': 'true', 'batch.poll_ms': 50 },
  });
  await using harness = await BatchHarness.open({ dataDir: join(rig.folder, 'data') });
  await using load = new LoadProcess();
  const rounds: Interactive[] = [];
  for (let round = 1; round <= INTERACTIVE_ROUNDS; round++) {
    const p99Ms = await interactiveP99(load, rig.gateway.port, round);
    const batch = await runningBatch(harness);
    const startMs = performance.now();
    const besideBatchP99Ms = await interactiveP99(load, rig.gateway.port, round);
    const tookS = (performance.now() - startMs) / 1000;
    const linesPerS = rounded((await batch.end()) / tookS);
    rounds.push({ p99Ms, besideBatchP99Ms, ratio: besideBatchP99Ms / p99Ms, linesPerS });
    progress(`  interactive: ${JSON.stringify(rounds.at(-1))}`);
  }
  const middle = (pick: (row: Interactive) => number): number => rounded(median(rounds.map(pick)));
  return {
    p99Ms: middle(row => row.p99Ms),
    besideBatchP99Ms: middle(row => row.besideBatchP99Ms),
    ratio: middle(row => row.ratio),
    linesPerS: middle(row => row.linesPerS),
  };
}

async function interactiveP99(load: LoadProcess, port: number, seed: number): Promise<number> {
  const request = transcriptionRequest({ model: BENCH_MODEL, priority: 'realtime' });
  const arrivals = { kind: 'poisson', ratePerS: INTERACTIVE_PER_S } as const;
  const report = await load.run({
    port,
    request,
    arrivals,
    warmupMs: 1000,
    durationMs: 30_000,
    seed,
  });
  return report.latencyMs.p99;
}

/**
 * @returns with lines on their way; `end` cancels it and tells how many
 *   were done meanwhile.
 */
async function runningBatch(harness: BatchHarness): Promise<{ end(): Promise<number> }> {
  const audio = JSON.stringify({
    model: BENCH_MODEL,
    audio: silentWav().toString('base64'),
  });
  const lines = Array.from({ length: AUDIO_LINES }, (_, index) =>
    line(`line-${index}`, '/v1/audio/transcriptions', audio),
  );
  const { id } = await harness.submit(lines, { endpoint: '/v1/audio/transcriptions' });
  const { counts } = await harness.until(
    id,
    'lines on their way',
    job => job.counts.completed > 100,
  );
  return {
    end: async () => {
      const now = await harness.job(id);
      await harness.jobs.requestCancel(TENANT, id, Date.now());
      const { counts: last } = await harness.untilEnd(id, 30_000);
      if (last.completed === AUDIO_LINES) throw new Error('the batch ended while it was measured');
      return now.counts.completed - counts.completed;
    },
  };
}

const body = (content: string): string =>
  JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }] });

const line = (customId: string, url: string, json: string): string =>
  `{"custom_id":"${customId}","method":"POST","url":"${url}","body":${json}}`;

const peer = (name: string, script: string, folder: string): NodeProcess =>
  new NodeProcess({ name, script, folder });

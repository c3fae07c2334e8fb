import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BENCH_MODEL } from './support/bench-model.js';
import { atMost, type BenchResult, progress } from './support/bench-result.js';
import { BenchRig } from './support/bench-rig.js';
import { uploadFile } from './support/file-upload.js';
import { converted, writeLongWav } from './support/long-audio-file.js';
import { rounded } from './support/percentiles.js';
import { peakRssMib } from './support/process-memory.js';

const MINUTES = [1, 30, 120];
const LONGEST = 120;
const UPLOAD_LIMIT_BYTES = 1_073_741_824;
const MOST_GROWTH_MIB = 64;

interface Row {
  readonly fileMib: number;
  readonly gatewayPeakMib: number;
  readonly workerPeakMib: number;
  /** Upload, decoding and recognition together. */
  readonly tookS: number;
  /** Of the answer, which must be the whole file's. */
  readonly segments: number;
}

/**
 * Does memory stay flat for audio of two hours? New processes for every file: each peak
 * is that file's own.
 */
export async function run(): Promise<BenchResult> {
  const wav: Record<string, Row> = {};
  for (const minutes of MINUTES) wav[`${minutes} min`] = await measure('wav', minutes);
  const [first, last] = [wav['1 min'], wav[`${LONGEST} min`]];
  const flac = await measure('flac', LONGEST);
  const mp3 = await measure('mp3', LONGEST);
  const growth = (pick: (row: Row) => number): number =>
    Math.max(...[last!, flac, mp3].map(pick)) - pick(first!);
  return {
    results: { wav, [`${LONGEST} min flac`]: flac, [`${LONGEST} min mp3`]: mp3 },
    goals: [
      atMost(
        'gateway, growth of the peak from 1 to 120 min, MiB',
        growth(row => row.gatewayPeakMib),
        MOST_GROWTH_MIB,
      ),
      atMost(
        'worker, growth of the peak from 1 to 120 min, MiB',
        growth(row => row.workerPeakMib),
        MOST_GROWTH_MIB,
      ),
    ],
  };
}

async function measure(container: 'wav' | 'flac' | 'mp3', minutes: number): Promise<Row> {
  await using rig = await BenchRig.start({
    cost: { groupMs: 40, maxBatch: 8, input: 'pcm' },
    settings: { 'server.upload_limit_bytes': UPLOAD_LIMIT_BYTES },
    uploadLimitBytes: UPLOAD_LIMIT_BYTES,
  });
  const path = await audioFile(rig.folder, container, minutes);
  const startMs = performance.now();
  const fields = { model: BENCH_MODEL, response_format: 'verbose_json' };
  const answer = JSON.parse(await uploadFile({ port: rig.gateway.port, path, fields })) as Answer;
  const row = {
    fileMib: rounded((await stat(path)).size / 1_048_576),
    gatewayPeakMib: rounded(peakRssMib(rig.gateway.process.child.pid)),
    workerPeakMib: rounded(peakRssMib(rig.worker.process.child.pid)),
    tookS: rounded((performance.now() - startMs) / 1000),
    segments: answer.segments.length,
  };
  if (Math.abs(answer.duration - minutes * 60) > 1)
    throw new Error(`${minutes} min were taken as ${answer.duration} s`);
  progress(`  ${minutes} min ${container}: ${JSON.stringify(row)}`);
  return row;
}

interface Answer {
  readonly duration: number;
  readonly segments: readonly unknown[];
}

async function audioFile(folder: string, container: string, minutes: number): Promise<string> {
  const wav = join(folder, 'long.wav');
  await writeLongWav(wav, minutes);
  if (container === 'wav') return wav;
  const path = join(folder, `long.${container}`);
  await converted(wav, path);
  return path;
}

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { RECOGNISER_RATE, samplesOf } from '@switchyard/engine-api/audio/pcm.js';
import { canonicalWavData, decodeAudio, decodedStream } from '../../../src/worker/audio/decode.js';
import { openUnnamed } from '../../../src/worker/audio/received-file.js';
import { describeWith } from '../../support/requires.js';
import { type AudioFile, audioFiles, writeFiles } from './audio-files.js';

/** What a decoder makes of a file. */
interface Decoded {
  /** "ok", or the code of the error. */
  readonly status: string;
  readonly samples: Int16Array;
}

const NOTHING = new Int16Array(0);
const never = new AbortController().signal;

const outcome = (samples: Promise<Int16Array>): Promise<Decoded> =>
  samples.then(
    all => ({ status: 'ok', samples: all }),
    (error: { code: string }) => ({ status: error.code, samples: NOTHING }),
  );

const decoded = new Map<AudioFile, Promise<Decoded>>();

/** By ffmpeg, or as it is. */
function whole(file: AudioFile): Promise<Decoded> {
  const known = decoded.get(file);
  if (known) return known;
  const decoding = outcome(decodeAudio(file.bytes, never).then(({ samples }) => samples));
  decoded.set(file, decoding);
  return decoding;
}

/** As long files are decoded, and all that are no canonical WAV. */
async function streamed(bytes: Buffer): Promise<Int16Array> {
  await using upload = await openUnnamed();
  await upload.writeFile(bytes);
  const pieces = await Array.fromAsync(decodedStream(upload, never, bytes.length));
  return Int16Array.from(pieces.flatMap(piece => [...piece]));
}

const PYTHON = [
  process.env.SWITCHYARD_TEST_PYTHON ?? '',
  'node_modules/.cache/switchyard-whisper-python/bin/python',
].find(existsSync);

const folder = mkdtempSync(join(tmpdir(), 'decoders-spec-'));
afterAll(() => rmSync(folder, { recursive: true }));
const files = audioFiles(folder);

/** Loudness of each 50 ms, of full scale. */
function loudness(samples: Int16Array): readonly number[] {
  const width = RECOGNISER_RATE / 20;
  return Array.from({ length: Math.floor(samples.length / width) }, (_, at) => {
    const part = samples.subarray(at * width, (at + 1) * width);
    return Math.sqrt(part.reduce((sum, sample) => sum + sample ** 2, 0) / width) / 0x8000;
  });
}

const secondsOf = ({ samples }: Decoded): number => samples.length / RECOGNISER_RATE;

/** Whether it is refused, or as long and as loud as it should be. */
function expectHeard({ heard }: AudioFile, found: Decoded): void {
  expect(found.status).toBe(typeof heard === 'string' ? heard : 'ok');
  if (typeof heard === 'string') return;
  const [least, most] = typeof heard === 'number' ? [heard - 0.1, heard + 0.1] : heard;
  expect(secondsOf(found)).toBeGreaterThanOrEqual(least);
  expect(secondsOf(found)).toBeLessThanOrEqual(most);
  expect(Math.max(...loudness(found.samples))).toBeGreaterThan(0.05);
}

/** Two decoders agree on status, seconds and course of the loudness. */
function expectSame(one: Decoded, other: Decoded): void {
  expect(one.status).toBe(other.status);
  expect(Math.abs(secondsOf(one) - secondsOf(other))).toBeLessThan(0.1);
  const [a, b] = [loudness(one.samples), loudness(other.samples)];
  for (const [at, level] of a.slice(0, b.length).entries())
    expect(Math.abs(level - b[at]!)).toBeLessThan(0.02);
}

it.each(files.map(file => [file.name, file] as const))(
  'ffmpeg hears all that is there: %s',
  async (_name, file) => {
    const heard = await whole(file);
    expectHeard(file, heard);
    if (canonicalWavData(file.bytes)) expectSame(await outcome(streamed(file.bytes)), heard);
  },
);

describeWith({
  name: 'a Python with faster-whisper',
  present: PYTHON !== undefined,
  ofMachine: true,
})('the decoder of the Python worker', () => {
  const paths = PYTHON === undefined ? [] : writeFiles(folder, files);
  const { stdout } = spawnSync(PYTHON ?? 'true', ['-B', 'workers/python/tests/decode_files.py'], {
    input: paths.map(path => `${path}\n`).join(''),
    encoding: 'utf8',
  });
  const statuses = stdout.split('\n');

  it.each(files.map((file, at) => [file.name, file, at] as const))(
    'hears the same: %s',
    async (_name, file, at) => {
      const status = statuses[at]!;
      const samples = status === 'ok' ? samplesOf(readFileSync(`${paths[at]}.pcm`)) : NOTHING;
      expectHeard(file, { status, samples });
      expectSame({ status, samples }, await whole(file));
    },
  );
});

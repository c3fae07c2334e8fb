import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { audioDuration } from './audio-duration.js';
import { SpooledUpload } from './upload-spool.js';

const SECONDS = 3;
const HEAD = 65_536;

let dir: string;
beforeAll(() => {
  dir = temporaryFolder();
});

function record(name: string, ...encoding: readonly string[]) {
  const path = join(dir, name);
  const tone = ['-f', 'lavfi', '-i', `sine=frequency=440:duration=${SECONDS}`];
  execFileSync('ffmpeg', [
    '-hide_banner',
    '-loglevel',
    'error',
    '-nostdin',
    '-y',
    ...tone,
    ...encoding,
    path,
  ]);
  return path;
}

const inMemory = (bytes: Buffer) => new SpooledUpload(bytes.length, bytes, bytes);
const onDisk = (path: string, bytes: Buffer) =>
  new SpooledUpload(bytes.length, bytes.subarray(0, HEAD), path);

describe('the duration of a file is read from its headers', () => {
  it.each([
    ['a.wav', []],
    ['a.mp3', []],
    ['a.m4a', []],
    ['a.flac', []],
    ['a.ogg', ['-c:a', 'libopus']],
    ['a.webm', ['-c:a', 'libopus']],
  ])('%s', async (name, encoding) => {
    const bytes = await readFile(record(name, ...encoding));
    const { seconds, known } = await audioDuration(inMemory(bytes), name);
    expect(known).toBe(true);
    expect(Math.abs(seconds - SECONDS)).toBeLessThan(0.2);
  });

  it('an m4a on disk whose index lies behind its audio', async () => {
    const path = record('long.m4a', '-b:a', '320k');
    const { seconds, known } = await audioDuration(onDisk(path, await readFile(path)), 'long.m4a');
    expect([known, Math.round(seconds)]).toEqual([true, SECONDS]);
  });

  it('a WAV through a pipe, which declares no length', async () => {
    const path = record('piped.wav');
    const bytes = await readFile(path);
    const declared = bytes.indexOf('data') + 4;
    for (const length of [0, 0xffffffff]) {
      bytes.writeUInt32LE(length, declared);
      expect(Math.round((await audioDuration(inMemory(bytes), 'piped.wav')).seconds)).toBe(SECONDS);
    }
  });
});

describe('a duration that cannot be known', () => {
  it.each(['text.wav', 'text.mp3', 'text.bin'])(
    'of %s, which is no audio, is guessed from its size',
    async name => {
      const text = Buffer.from('This is a text, renamed. '.repeat(400));
      expect(await audioDuration(inMemory(text), name)).toEqual({
        seconds: text.length / 2000,
        known: false,
      });
    },
  );

  it('of a truncated mp3 is estimated, or read from the remaining header, at most what its bytes allow', async () => {
    const bytes = (await readFile(record('cut.mp3'))).subarray(0, 300);
    const { seconds } = await audioDuration(inMemory(bytes), 'cut.mp3');
    expect(seconds).toBeLessThanOrEqual(bytes.length / 500);
  });

  it('of a WAV header that lies is bounded by its bytes', async () => {
    const bytes = Buffer.from(await readFile(record('lie.wav')));
    bytes.writeUInt32LE(1, 28);
    expect((await audioDuration(inMemory(bytes), 'lie.wav')).seconds).toBe(bytes.length / 500);
  });
});

describe('a WAV without samples', () => {
  it('is known to be 0 s', async () => {
    const header = (await readFile(record('zero.wav'))).subarray(0, 78);
    const empty = Buffer.from(header.subarray(0, header.indexOf('data') + 8));
    empty.writeUInt32LE(0, empty.length - 4);
    expect(await audioDuration(inMemory(empty), 'zero.wav')).toEqual({ seconds: 0, known: true });
  });
});

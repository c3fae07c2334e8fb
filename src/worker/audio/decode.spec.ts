import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { streamedWavHeader } from '../../contracts/formats/speech.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { decodeAudio, canonicalWavData } from './decode.js';
import { MIX_FILTERS } from './mix-down.js';

const never = new AbortController().signal;
const folder = temporaryFolder();

/** A file that ffmpeg makes of `args`, which name its sources. */
function ffmpeg(name: string, ...args: string[]): Buffer {
  const path = join(folder, name);
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', ...args, path]);
  return readFileSync(path);
}

/** One second of a tone in the container that `args` say. */
const made = (name: string, ...args: string[]) =>
  ffmpeg(name, '-f', 'lavfi', '-i', 'sine=frequency=440:duration=1:sample_rate=44100', ...args);

const failure = (file: Buffer, signal = never): Promise<unknown> =>
  decodeAudio(file, signal).then(
    () => undefined,
    (error: unknown) => error,
  );

/** Paths of this process's open files. */
const openFiles = () =>
  readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });

it('hears the default track of several', async () => {
  const seconds = (duration: number) => ['-f', 'lavfi', '-i', `sine=duration=${duration}`];
  const tracks = [...seconds(1), ...seconds(3), '-map', '0:a', '-map', '1:a', '-c:a', 'aac'];
  const chosen = ['-disposition:a:0', '0', '-disposition:a:1', 'default'];
  const { durationS } = await decodeAudio(ffmpeg('two.m4a', ...tracks, ...chosen), never);
  expect(durationS).toBeCloseTo(3, 0);
});

describe('containers and limits', () => {
  const python = readFileSync(
    'workers/python/src/switchyard_worker/ctranslate2/audio_file.py',
    'utf8',
  );
  const here = readFileSync('src/worker/audio/decode.ts', 'utf8');

  it('are the same in the Python worker', () => {
    const containers = /'(wav,w64,[\w,]+)'/.exec(here)?.[1];
    expect(/CONTAINERS = "([^"]+)"/.exec(python)?.[1]).toBe(containers);
    expect(python).toContain('LONGEST_S = 4 * 3600');
    expect(here).toContain('MAX_AUDIO_S = 4 * 3600');
    expect(python).toContain('60 + len(file) // 20');
    expect(/FILTERS = "([^"]+)"/.exec(python)?.[1]).toBe(MIX_FILTERS);
    expect(here).toMatch(/LEAST_BYTES_PER_S = 20;[\s\S]*SLACK_S = 60;/);
  });
});

describe('decodeAudio', () => {
  let m4a: Buffer;
  let mp3: Buffer;
  beforeAll(() => {
    m4a = made('a.m4a', '-c:a', 'aac');
    mp3 = made('a.mp3', '-c:a', 'libmp3lame');
  });

  it.each([
    ['wav', ['-c:a', 'pcm_s16le'], 0],
    ['flac', ['-c:a', 'flac'], 0],
    ['mp3', ['-c:a', 'libmp3lame'], 0.06],
    ['m4a', ['-c:a', 'aac'], 0.06],
    ['webm', ['-c:a', 'libopus'], 0.03],
    ['opus', ['-c:a', 'libopus'], 0.03],
    ['ogg', ['-c:a', 'libopus'], 0.03],
  ])('decodes one second of %s to 16,000 samples', async (extension, args, slackS) => {
    const { samples, durationS } = await decodeAudio(made(`b.${extension}`, ...args), never);
    expect(Math.abs(samples.length - 16_000)).toBeLessThanOrEqual(slackS * 16_000);
    expect(durationS).toBe(samples.length / 16_000);
    expect(Math.max(...samples.subarray(4000, 12_000))).toBeGreaterThan(2000);
  });

  it('mixes stereo down', async () => {
    const { samples } = await decodeAudio(made('s.wav', '-ac', '2'), never);
    expect(samples).toHaveLength(16_000);
  });

  it('takes 16 kHz mono WAV as it is', async () => {
    const file = made('c.wav', '-ar', '16000');
    const { samples } = await decodeAudio(file, never);
    expect(samples).toHaveLength(16_000);
    expect(Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)).toEqual(
      file.subarray(-32_000),
    );
  });

  it('decodes an mp3 that ends early as far as it goes', async () => {
    const { samples } = await decodeAudio(mp3.subarray(0, mp3.length >> 1), never);
    expect(samples.length).toBeGreaterThan(6000);
    expect(samples.length).toBeLessThan(10_000);
  });

  it.each([
    ['an empty file', Buffer.alloc(0), 'empty_file', /0 bytes/],
    [
      'text',
      Buffer.from('this is text, renamed to .wav\n'.repeat(20)),
      'invalid_audio',
      /Invalid data found/,
    ],
    ['zeros', Buffer.alloc(5000), 'invalid_audio', /cannot be decoded/],
    [
      'a play list',
      Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n'),
      'invalid_audio',
      /cannot be decoded/,
    ],
  ])('refuses %s', async (_what, file, code, message) => {
    expect(await failure(file)).toMatchObject({
      code,
      param: 'file',
      message: expect.stringMatching(message),
    });
  });

  it('refuses a WAV of 0 seconds, canonical or not', async () => {
    for (const rate of [16_000, 44_100])
      expect(await failure(streamedWavHeader(rate))).toMatchObject({
        code: 'audio_too_short',
        param: 'file',
      });
  });

  it('refuses the first bytes of an mp3 and an m4a without its index, in one line', async () => {
    for (const file of [mp3.subarray(0, 60), m4a.subarray(0, m4a.length >> 1)]) {
      const error = (await failure(file)) as DomainError;
      expect(error.code).toBe('invalid_audio');
      expect(error.message).not.toMatch(/\n|\/dev\/|0x/);
    }
  });

  it('refuses a film without sound', async () => {
    const film = ffmpeg('mute.mp4', '-f', 'lavfi', '-i', 'color=s=16x16:d=1', '-an');
    expect(await failure(film)).toMatchObject({ code: 'invalid_audio' });
  });

  it('ends with the error of the abort, and leaves no file open', async () => {
    const abort = new AbortController();
    const decoding = failure(mp3, abort.signal);
    abort.abort(new DomainError('request_cancelled', 'gone'));
    expect(await decoding).toMatchObject({ code: 'request_cancelled', message: 'gone' });
    expect(openFiles().filter(path => path.includes('switchyard-audio-'))).toEqual([]);
  });

  describe('of a file whose header lies', () => {
    /**
     * Samples of 8 bits at `rate`, said to be played at four thousand million
     * bytes a second.
     */
    const lying = (rate: number, bytes: number): Buffer => {
      const file = Buffer.concat([streamedWavHeader(rate), Buffer.alloc(bytes, 0x55)]);
      file.writeUInt32LE(4_000_000_000, 28);
      file.writeUInt16LE(1, 32);
      file.writeUInt16LE(8, 34);
      return file;
    };

    it('ends before ffmpeg holds more than its share: 14 kB at 1 Hz are refused', async () => {
      const code = expect.stringMatching(/^(invalid_audio|audio_too_short)$/);
      expect(await failure(lying(1, 14_000))).toMatchObject({ code, param: 'file' });
    });

    it('ends at the first sample that a file of its size cannot hold', async () => {
      // 14,000 bytes at 10 Hz would be 1400 s; 760 s are what 20 bytes a second allow.
      const error = (await failure(lying(10, 14_000))) as DomainError;
      expect(error).toMatchObject({
        code: 'invalid_audio',
        message: expect.stringContaining('longer than 762 s'),
      });
    });

    it('decodes an hour of silence in flac, some 30 bytes a second', async () => {
      const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono:d=3600'];
      const file = ffmpeg('silence.flac', ...silence, '-frame_size', '4096');
      expect(file.length).toBeLessThan(3600 * 60);
      expect((await decodeAudio(file, never)).durationS).toBe(3600);
    });

    it('ends at the seconds that the caller has a use for', async () => {
      expect(await failure(made('l.wav'))).toBeUndefined();
      const tooLong = decodeAudio(made('l.flac'), never, 0.5);
      await expect(tooLong).rejects.toMatchObject({ code: 'invalid_audio' });
    });
  });
});

const chunk = (id: string, body: Buffer, declared = body.length): Buffer => {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(declared, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
};

function format(
  { coding = 1, channels = 1, rate = 16_000, bits = 16 } = {},
  extra = Buffer.alloc(0),
): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt16LE(coding, 0);
  body.writeUInt16LE(channels, 2);
  body.writeUInt32LE(rate, 4);
  body.writeUInt16LE(bits, 14);
  return chunk('fmt ', Buffer.concat([body, extra]));
}

const riff = (...chunks: Buffer[]): Buffer =>
  chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));
const samples = Buffer.from([1, 2, 3, 4, 5, 6]);

describe('canonicalWavData', () => {
  const data = chunk('data', samples);
  const extensible = (coding: number) => {
    const subFormat = Buffer.alloc(24);
    subFormat.writeUInt16LE(coding, 8);
    return riff(format({ coding: 0xfffe }, subFormat), data);
  };

  it.each([
    [
      'after chunks of no interest, odd-sized ones included',
      riff(chunk('LIST', Buffer.from('odd')), format(), chunk('fact', Buffer.alloc(4)), data),
    ],
    ['before the format', riff(data, format())],
    ['before chunks behind it', riff(format(), data, chunk('LIST', Buffer.from('trailing')))],
    ['of the extensible format when PCM is inside', extensible(1)],
  ])('finds the data %s', (_where, file) => {
    expect(canonicalWavData(file)).toEqual(samples);
  });

  it.each([0xffffffff, 0x7fffffff, 7, 0])(
    'clips a data length of %i to the 6 bytes of the file',
    declared => {
      expect(canonicalWavData(riff(format(), chunk('data', samples, declared)))).toEqual(samples);
    },
  );

  it('takes a data length of 0 literally at the end of the file and before another chunk', () => {
    const empty = [format(), chunk('data', Buffer.alloc(0))];
    for (const behind of [[], [chunk('LIST', Buffer.from('abcd'))]])
      expect(canonicalWavData(riff(...empty, ...behind))).toHaveLength(0);
  });

  it.each([
    ['stereo', riff(format({ channels: 2 }), data)],
    ['44.1 kHz', riff(format({ rate: 44_100 }), data)],
    ['8 bit', riff(format({ bits: 8 }), data)],
    ['float', riff(format({ coding: 3 }), data)],
    ['the extensible format with float inside', extensible(3)],
    ['two data chunks, so that all recognisers hear the same one,', riff(format(), data, data)],
    ['text', Buffer.from('this is not a wav file at all')],
    ['nothing', Buffer.alloc(0)],
    ['RIFF of another kind', chunk('RIFF', Buffer.from('AVI LIST'))],
    ['a cut format', riff(chunk('fmt ', Buffer.alloc(4)), data)],
    ['no format', riff(data)],
    ['no data', riff(format())],
  ])('leaves %s to ffmpeg', (_what, file) => {
    expect(canonicalWavData(file)).toBeUndefined();
  });
});

describe('streamedWavHeader', () => {
  it('begins a file of unknown length that reads as a WAV of all bytes that follow', () => {
    expect(canonicalWavData(Buffer.concat([streamedWavHeader(16_000), samples]))).toEqual(samples);
  });
});

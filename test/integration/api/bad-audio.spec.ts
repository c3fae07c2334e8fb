import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { audioForm, wav } from './audio-forms.js';
import { errorOf, GatewayRig } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';

let rig: GatewayRig;
beforeAll(async () => {
  const models = [sttModel({ engine: 'pocketsphinx', replicas: 1 })];
  rig = await GatewayRig.start({ models, launch: 'hosted' });
});
afterAll(() => rig.close());
afterEach(async () => {
  expect(await rig.spooled()).toEqual([]);
});

const encode = (...args: readonly string[]): Buffer =>
  execFileSync(
    'ffmpeg',
    ['-hide_banner', '-loglevel', 'error', '-i', 'pipe:0', ...args, 'pipe:1'],
    { input: wav(2) },
  );

interface Verbose {
  readonly text: string;
  readonly duration: number;
  readonly segments: readonly unknown[];
}

async function heard(file: Buffer, filename: string): Promise<Verbose> {
  const response = await rig.post(
    PATH,
    audioForm({ file, filename, fields: { response_format: 'verbose_json' } }),
  );
  expect(response.status).toBe(200);
  return (await response.json()) as Verbose;
}

describe('audio that a real worker cannot use', () => {
  it.each([
    [
      'a text renamed .wav',
      () => Buffer.from('This is not audio at all. '.repeat(100)),
      'speech.wav',
    ],
    ['noise renamed .mp3', () => Buffer.alloc(5000, 0x5a), 'speech.mp3'],
    [
      'an m4a cut before its index',
      () => Buffer.from('0000001c667479704d344120', 'hex'),
      'speech.m4a',
    ],
  ])('%s is invalid_audio', async (_name, file, filename) => {
    const error = await errorOf(rig.post(PATH, audioForm({ file: file(), filename })));
    expect(error).toMatchObject({ status: 400, code: 'invalid_audio', param: 'file' });
    expect(error.headers.get('x-should-retry')).toBe('false');
  });

  it('an mp3 that breaks off is transcribed as far as it goes', async () => {
    const whole = encode('-f', 'mp3');
    const file = whole.subarray(0, Math.floor(whole.length / 2));
    const { duration } = await heard(file, 'cut.mp3');
    expect(duration).toBeGreaterThan(0.5);
    expect(duration).toBeLessThan(1.5);
  });

  it('an mp3 of which only the header is left is refused, not guessed at', async () => {
    const file = encode('-f', 'mp3', '-id3v2_version', '0', '-write_xing', '0').subarray(0, 20);
    const error = await errorOf(rig.post(PATH, audioForm({ file, filename: 'cut.mp3' })));
    expect(error.status).toBe(400);
    expect(['invalid_audio', 'audio_too_short']).toContain(error.code);
  });
});

describe('audio of odd recordings', () => {
  it.each([
    ['8 channels', encode('-ac', '8', '-f', 'wav')],
    ['192 kHz', encode('-ar', '192000', '-f', 'wav')],
    ['8 kHz and 8 bit', encode('-ar', '8000', '-c:a', 'pcm_u8', '-f', 'wav')],
    ['32 bit float', encode('-c:a', 'pcm_f32le', '-f', 'wav')],
    ['40 dB too quiet', encode('-af', 'volume=-40dB', '-f', 'wav')],
    ['clipped', encode('-af', 'volume=40dB', '-f', 'wav')],
  ])('%s is transcribed, two seconds of it', async (_what, file) => {
    expect((await heard(file, 'odd.wav')).duration).toBeCloseTo(2, 1);
  });

  it('silence has no text and no segments', async () => {
    const file = encode('-af', 'volume=0', '-f', 'wav');
    expect(await heard(file, 'silence.wav')).toMatchObject({ text: '', segments: [] });
  });

  it('a file with another extension than its content is heard by its content', async () => {
    expect((await heard(encode('-f', 'mp3'), 'really.flac')).duration).toBeCloseTo(2, 0);
    expect((await heard(encode('-f', 'flac'), 'no-extension')).duration).toBeCloseTo(2, 1);
  });

  it('a WAV whose header promises more than there is is heard as far as it goes', async () => {
    expect((await heard(wav(2).subarray(0, 44 + 32_000), 'cut.wav')).duration).toBe(1);
  });

  it('a WAV of a header alone is audio_too_short', async () => {
    const error = await errorOf(rig.post(PATH, audioForm({ file: wav(0) })));
    expect(error).toMatchObject({ status: 400, code: 'audio_too_short', param: 'file' });
  });

  it('a video without sound says so', async () => {
    const args = ['-f', 'lavfi', '-i', 'color=s=16x16:d=1', '-f', 'matroska', 'pipe:1'];
    const file = execFileSync('ffmpeg', ['-hide_banner', '-loglevel', 'error', ...args]);
    const error = await errorOf(rig.post(PATH, audioForm({ file, filename: 'film.webm' })));
    expect(error).toMatchObject({ status: 400, code: 'invalid_audio', param: 'file' });
  });
});

describe('audio as people send it', () => {
  it.each([
    ['flac', ['-f', 'flac']],
    ['mp3', ['-f', 'mp3']],
    ['ogg', ['-c:a', 'libopus', '-f', 'ogg']],
    ['webm', ['-c:a', 'libopus', '-f', 'webm']],
  ])('%s is transcribed', async (extension, args) => {
    const form = audioForm({ file: encode(...args), filename: `speech.${extension}` });
    const response = await rig.post(PATH, form);
    expect([response.status, response.headers.get('x-switchyard-batch-size')]).toEqual([200, '1']);
  });
});

import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { audioForm, wav } from './audio-forms.js';
import { errorOf, GatewayRig, sourceLaunch } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';

let rig: GatewayRig;
beforeAll(async () => {
  const models = [sttModel({ engine: 'pocketsphinx', replicas: 1 })];
  rig = await GatewayRig.start({ models, launch: sourceLaunch });
  await rig.ready('stt');
});
afterAll(() => rig.close());
afterEach(async () => {
  expect(await rig.spooled()).toEqual([]);
});

const encode = (...args: readonly string[]): Buffer =>
  execFileSync('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-i', 'pipe:0', ...args, 'pipe:1'], { input: wav(2) });

describe('audio that a real worker cannot use', () => {
  it.each([
    ['a text renamed .wav', () => Buffer.from('This is not audio at all. '.repeat(100)), 'speech.wav'],
    ['noise renamed .mp3', () => Buffer.alloc(5000, 0x5a), 'speech.mp3'],
    ['an m4a cut before its index', () => Buffer.from('0000001c667479704d344120', 'hex'), 'speech.m4a'],
  ])('%s is invalid_audio', async (_name, file, filename) => {
    const error = await errorOf(rig.post(PATH, audioForm({ file: file(), filename })));
    expect(error).toMatchObject({ status: 400, code: 'invalid_audio', param: 'file' });
    expect(error.headers.get('x-should-retry')).toBe('false');
  });

  it('an mp3 that breaks off is transcribed as far as it goes', async () => {
    const whole = encode('-f', 'mp3');
    const file = whole.subarray(0, Math.floor(whole.length / 2));
    const response = await rig.post(
      PATH,
      audioForm({ file, filename: 'cut.mp3', fields: { response_format: 'verbose_json' } }),
    );
    const { duration } = (await response.json()) as { duration: number };
    expect(response.status).toBe(200);
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

import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { audioForm, wav } from './audio-forms.js';
import { errorOf, GatewayRig } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';

let rig: GatewayRig;
beforeAll(async () => {
  const models = [
    sttModel({
      engine: 'sherpa-onnx',
      options: { modelDir: 'test/fixtures/sherpa/nemo-ctc' },
      replicas: 1,
    }),
  ];
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

  it('a file with another extension than its content is heard by its content', async () => {
    expect((await heard(encode('-f', 'mp3'), 'really.flac')).duration).toBeCloseTo(2, 0);
    expect((await heard(encode('-f', 'flac'), 'no-extension')).duration).toBeCloseTo(2, 1);
  });
});

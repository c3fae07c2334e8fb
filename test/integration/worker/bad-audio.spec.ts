import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { streamedWavHeader } from '../../../src/contracts/formats/speech.js';
import { type HostedWorker } from '../../support/hosted-worker.js';
import { SttCaller } from './stt-caller.js';
import { hostedWorker, sttModel } from './worker-process.js';

/** One second of a tone in the container and codec that `args` say. */
const made = (...args: string[]): Buffer =>
  execFileSync('ffmpeg', [
    '-loglevel',
    'error',
    '-f',
    'lavfi',
    '-i',
    'sine=duration=1',
    ...args,
    'pipe:1',
  ]);

describe('audio given to a worker that decodes', () => {
  let worker: HostedWorker;
  let caller: SttCaller;
  beforeAll(async () => {
    worker = await hostedWorker({
      model: { ...sttModel, id: 'pocketsphinx-en', engine: 'pocketsphinx' },
    });
    caller = new SttCaller(worker.address);
  });
  afterAll(async () => {
    caller.close();
    await worker[Symbol.asyncDispose]();
  });

  it.each([
    ['an empty file', Buffer.alloc(0), 'empty_file'],
    ['text renamed to .wav', Buffer.from('this is not audio\n'.repeat(50)), 'invalid_audio'],
    ['a wav of 0 seconds', streamedWavHeader(16_000), 'audio_too_short'],
    ['a stereo wav of 0 seconds', made('-t', '0', '-ac', '2', '-f', 'wav'), 'audio_too_short'],
    ['the first bytes of an mp3', made('-f', 'mp3').subarray(0, 60), 'invalid_audio'],
  ])('is refused when it is %s, naming the field', async (what, audio, code) => {
    expect(await caller.send(what, { audio }).outcome).toMatchObject({
      code,
      param: 'file',
    });
  });

  it('is refused for the bad member of a group only', async () => {
    const group = { id: 'group', size: 2 };
    const good = caller.send('good', { audio: made('-f', 'flac'), group });
    const bad = caller.send('bad', { audio: Buffer.from('bad'), group });
    expect(await bad.outcome).toMatchObject({ code: 'invalid_audio' });
    expect(await good.outcome).toMatchObject({ transcript: { durationS: 1 } });
  });

  it.each([
    ['flac', ['-f', 'flac']],
    ['mp3', ['-f', 'mp3']],
    ['webm', ['-c:a', 'libopus', '-f', 'webm']],
    ['ogg', ['-c:a', 'libopus', '-f', 'ogg']],
    ['m4a', ['-c:a', 'aac', '-movflags', 'frag_keyframe', '-f', 'mp4']],
  ])('is decoded from %s', async (format, args) => {
    const reply = await caller.send(format, { audio: made(...args) }).outcome;
    expect(reply).toMatchObject({ transcript: { durationS: expect.closeTo(1, 0) } });
  });
});

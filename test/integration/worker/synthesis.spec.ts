import { type ClientReadableStream, credentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type SpeechFormat } from '@switchyard/worker-protocol/speech-format.js';
import {
  encodeSynthesizeCall,
  type SpeechMessage,
  type SynthesizeCallFields,
  type SynthesizeResponse,
  TextToSpeechStub,
  type TextToSpeechClient,
} from '@switchyard/worker-protocol/tts.codec.js';
import { decodeFailure } from '../../../src/contracts/errors/status.codec.js';
import { type DomainError } from '../../../src/core/errors/domain-error.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { type HostedWorker } from '../../support/hosted-worker.js';
import { hostedWorker, ttsModel } from './worker-process.js';

// 15 characters a second: three seconds.
const TEXT = 'x'.repeat(45);

interface Speech {
  readonly chunks: readonly SpeechMessage[];
  readonly audio: Buffer;
  readonly error?: DomainError;
}

describe('synthesis by a real worker', () => {
  let worker: HostedWorker;
  let client: TextToSpeechClient;

  async function start(options: Readonly<Record<string, unknown>> = {}): Promise<void> {
    worker = await hostedWorker({ model: { ...ttsModel, options } });
    client = new TextToSpeechStub(worker.address, credentials.createInsecure());
  }

  afterEach(async () => {
    client.close();
    await worker[Symbol.asyncDispose]();
  });

  function open(
    change: Partial<SynthesizeCallFields> = {},
  ): ClientReadableStream<SynthesizeResponse> {
    const requestId = change.requestId ?? 'speech';
    return client.synthesize(
      encodeSynthesizeCall({
        requestId,
        priority: RequestPriority.BATCH,
        group: { id: requestId, size: 1 },
        text: TEXT,
        voice: 'synthetic',
        speed: 1,
        format: 'pcm',
        ...change,
      }),
    );
  }

  function heard(call: ClientReadableStream<SynthesizeResponse>): Promise<Speech> {
    const chunks: SpeechMessage[] = [];
    const audio = () =>
      Buffer.concat(chunks.flatMap(chunk => (chunk.$case === 'audio' ? [chunk.value] : [])));
    return new Promise(resolve => {
      call.on('data', (message: SynthesizeResponse) => chunks.push(message.message!));
      call.on('end', () => resolve({ chunks, audio: audio() }));
      call.on('error', error => resolve({ chunks, audio: audio(), error: decodeFailure(error) }));
    });
  }

  const cancel = (requestId: string): Promise<boolean> =>
    new Promise((resolve, reject) => {
      client.cancel({ requestId, reason: 'client', attempt: '' }, (error, reply) =>
        error ? reject(error) : resolve(reply.acknowledged),
      );
    });

  it('sends the header first, then audio as it is made, then done', async () => {
    await start({ baseMs: 30, steps: 3 });
    const { chunks, audio } = await heard(open());
    expect(chunks[0]).toEqual({
      $case: 'header',
      value: { contentType: 'audio/pcm', sampleRate: 24_000 },
    });
    expect(chunks.at(-1)).toMatchObject({
      $case: 'done',
      value: { durationS: 3, execution: { batchSize: 1 } },
    });
    expect(chunks.filter(({ $case }) => $case === 'audio').length).toBeGreaterThan(2);
    expect(audio).toHaveLength(3 * 24_000 * 2);
  });

  it('makes one engine call for 4 speeches sent together, each with its own audio', async () => {
    await start({ baseMs: 5 });
    const group = { id: 'group', size: 4 };
    const speeches = await Promise.all(
      [1, 2, 3, 4].map(n => heard(open({ requestId: `r${n}`, group, text: 'x'.repeat(15 * n) }))),
    );
    expect(speeches.map(({ audio }) => audio.length / 48_000)).toEqual([1, 2, 3, 4]);
    for (const { chunks } of speeches)
      expect(chunks.at(-1)).toMatchObject({ value: { execution: { batchSize: 4 } } });
  });

  it.each([
    ['an unknown voice', { voice: 'nobody' }, 'voice_not_found', 'voice'],
    ['a format of its own', { format: 'midi' as SpeechFormat }, 'invalid_value', 'format'],
    ['a speed of 9', { speed: 9 }, 'invalid_value', 'speed'],
    ['no text', { text: ' ' }, 'invalid_value', 'text'],
  ])('refuses %s before any header', async (_what, change, code, param) => {
    await start();
    const { chunks, error } = await heard(open(change));
    expect(chunks).toEqual([]);
    expect(error).toMatchObject({ code, param });
  });

  it('stops at the next checkpoint when cancelled', async () => {
    await start({ baseMs: 3_600_000, steps: 10_000 });
    const call = open({ format: 'mp3' });
    const speech = heard(call);
    while (!(await cancel('speech')));
    expect((await speech).error).toMatchObject({ code: 'request_cancelled' });
  });

  it('does not hold the device for a reader that reads nothing', async () => {
    await start({ maxBatch: 1 });
    const unread = open({ requestId: 'unread', text: 'x'.repeat(4000) });
    unread.on('error', () => undefined);
    await new Promise(resolve => unread.once('metadata', resolve));
    expect((await heard(open({ requestId: 'next' }))).audio).toHaveLength(3 * 48_000);
    unread.cancel();
  });
});

import { credentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type HealthResponse } from '@switchyard/worker-protocol/health.codec.js';
import {
  encodeSynthesizeCall,
  type SpeechMessage,
  type SynthesizeResponse,
  TextToSpeechStub,
  type TextToSpeechClient,
} from '@switchyard/worker-protocol/tts.codec.js';
import { decodeFailure } from '../../../src/contracts/errors/status.codec.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { type HostedWorker } from '../../support/hosted-worker.js';
import { hostedWorker, ttsModel } from './worker-process.js';

const { REALTIME, BATCH } = RequestPriority;
const SENTENCE = 'The train leaves at seven. ';
const sentences = (count: number): string => SENTENCE.repeat(count);

describe('a voice that speaks sentences in turns', () => {
  let worker: HostedWorker;
  let client: TextToSpeechClient;

  const start = async () => {
    const options = { modelDir: 'test/fixtures/sherpa/vits' };
    worker = await hostedWorker({ model: { ...ttsModel, engine: 'sherpa-onnx', options } });
    client = new TextToSpeechStub(worker.address, credentials.createInsecure());
  };
  afterEach(async () => {
    client.close();
    await worker[Symbol.asyncDispose]();
  });

  /** `begun` resolves with its first audio, `ended` with all of it. */
  function speak(requestId: string, count: number, priority: RequestPriority = REALTIME) {
    const group = { id: requestId, size: 1 };
    const call = client.synthesize(
      encodeSynthesizeCall({
        ...{ requestId, priority, group, text: sentences(count) },
        ...{ voice: '1', speed: 1, format: 'pcm' },
      }),
    );
    const begun = Promise.withResolvers<void>();
    const audio: Buffer[] = [];
    let done: Extract<SpeechMessage, { $case: 'done' }>['value'] | undefined;
    call.on('data', ({ message }: SynthesizeResponse) => {
      if (message?.$case === 'audio') audio.push(message.value);
      if (message?.$case === 'audio') begun.resolve();
      if (message?.$case === 'done') done = message.value;
    });
    const ended = new Promise<{ audio: Buffer; done: typeof done; code?: string }>(resolve => {
      call.on('end', () => resolve({ audio: Buffer.concat(audio), done }));
      call.on('error', error =>
        resolve({ audio: Buffer.concat(audio), done, code: decodeFailure(error).code }),
      );
    });
    return { begun: begun.promise, ended };
  }

  /** Requests in the order in which their sentences had the device. */
  const spoken = (): string[] =>
    worker.log
      .map(line => JSON.parse(line) as { event?: string; requestId: string })
      .filter(({ event }) => event === 'item_done')
      .map(({ requestId }) => requestId);

  it('gives everybody the first sentence before anybody the second, and a file its turns last', async () => {
    await start();
    const long = speak('long', 60);
    await long.begun;
    const file = speak('file', 3, BATCH);
    const [one, two] = [speak('one', 3), speak('two', 3)];
    await Promise.all([one.ended, two.ended, file.ended, long.ended]);
    const order = spoken();
    expect(order.filter(id => id === 'long')).toHaveLength(60);
    const seconds = [order.indexOf('one', order.indexOf('one') + 1), order.lastIndexOf('long')];
    for (const later of seconds) expect(order.indexOf('two')).toBeLessThan(later);
    expect(order.slice(-3)).toEqual(['file', 'file', 'file']);
  });

  it('makes of the sentences the samples of the whole, its sums in one execution', async () => {
    await start();
    const beside = speak('beside', 9);
    const answer = await speak('answer', 4).ended;
    const { length } = (await speak('alone', 1).ended).audio;
    await beside.ended;
    expect(answer.done).toMatchObject({ lateS: 0, execution: { batchSize: 1 } });
    expect(answer.done!.durationS).toBeCloseTo(answer.audio.length / 48_000, 2);
    expect(answer.done!.execution!.deviceMs).toBeGreaterThan(0);
    expect(Math.abs(answer.audio.length - 4 * length)).toBeLessThan(16);
    expect((await speak('again', 4).ended).audio.equals(answer.audio)).toBe(true);
  });

  it('stops at the sentence that runs when it is cancelled; the others go on', async () => {
    await start();
    const gone = speak('gone', 200);
    await gone.begun;
    const kept = speak('kept', 3);
    await new Promise<void>((resolve, reject) => {
      client.cancel({ requestId: 'gone', reason: 'client', attempt: '' }, error =>
        error ? reject(error) : resolve(),
      );
    });
    const before = spoken().filter(id => id === 'gone').length;
    expect((await gone.ended).code).toBe('request_cancelled');
    expect((await kept.ended).done).toBeDefined();
    expect(spoken().filter(id => id === 'gone').length - before).toBeLessThanOrEqual(1);
  });

  it('reports as many places beyond its slots as it can make as fast as they are played', async () => {
    await start();
    const health = (): Promise<HealthResponse> =>
      new Promise((resolve, reject) => {
        client.health({}, (error, reply) => (error ? reject(error) : resolve(reply)));
      });
    expect(await health()).toMatchObject({ maxBatch: 1, maxConcurrent: 1, overdraft: 3 });
    await speak('answer', 9).ended;
    expect((await health()).overdraft).toBeGreaterThanOrEqual(1);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PLAIN_TRANSCRIPTION, type TranscriptSegment } from '../../../src/contracts/formats/transcript.js';
import {
  decodeUploadAnswer,
  encodeUploadChunk,
  encodeUploadStart,
  type TranscribeAnswer,
  type TranscribeCallFields,
  type UploadAnswer,
} from '../../../src/contracts/grpc/stt.codec.js';
import { decodeFailure } from '../../../src/contracts/grpc/status.codec.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { DomainError } from '../../../src/core/shared/domain-error.js';
import { engineObjections } from '../../../src/worker/engine-factory.js';
import { modelSpec } from '../../contract/engines/engine-items.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { SttCaller } from '../worker/stt-caller.js';
import { WorkerProcess } from '../worker/worker-process.js';

const RATE = 16_000;
const MODELS = {
  segmentationModel: 'test/fixtures/sherpa/diarization/segmentation.onnx',
  embeddingModel: 'test/fixtures/sherpa/diarization/embedding.onnx',
};

/** A voice of the made-up models: one pitch, four syllables a second. */
const voice = (hertz: number, seconds: number): Buffer =>
  Buffer.from(
    Int16Array.from({ length: seconds * RATE }, (_, i) =>
      i % 4000 > 3200 ? 0 : 9000 * Math.sin((2 * Math.PI * hertz * i) / RATE),
    ).buffer,
  );
const SECOND = Buffer.alloc(2 * RATE);
/** Eleven seconds: the low voice, the high one at 4 to 7 s, the low one again. */
const TALK = Buffer.concat([voice(450, 3), SECOND, voice(2600, 3), SECOND, voice(450, 3)]);
const speakerAt = (second: number, high = 'B'): string => (second % 12 >= 3.5 && second % 12 < 7.5 ? high : 'A');
const middle = ({ start, end }: TranscriptSegment): number => (start + end) / 2;

describe('speakers beside whisper-onnx', () => {
  let worker: WorkerProcess;
  let caller: SttCaller;
  beforeAll(async () => {
    const options = { modelDir: 'test/fixtures/whisper/spoken', ...MODELS };
    worker = new WorkerProcess({ model: { ...modelSpec('whisper-onnx', 'stt', options), id: 'whisper' } });
    caller = new SttCaller(await worker.ready());
  });
  afterAll(async () => {
    caller.close();
    await worker.kill();
  });

  async function answerOf(
    id: string,
    change: Partial<TranscribeCallFields> = {},
  ): Promise<TranscribeAnswer['transcript']> {
    const outcome = await caller.send(id, { audio: pcmWav(TALK, RATE), diarize: true, ...change }).outcome;
    if (outcome instanceof DomainError) throw outcome;
    return outcome.transcript;
  }

  /** Everything an upload is answered, a failure last. `onStart` is called when all is sent. */
  async function uploaded(requestId: string, audio: Buffer, onStart = (): void => undefined) {
    const call = caller.client.transcribeUpload();
    const answers: (UploadAnswer | DomainError)[] = [];
    const group = { id: requestId, size: 1 };
    const priority = RequestPriority.BATCH;
    const options = { ...PLAIN_TRANSCRIPTION, requestId, priority, group, filename: 'a.wav', diarize: true };
    call.write(encodeUploadStart(options));
    for (let at = 0; at < audio.length; at += 65_536) call.write(encodeUploadChunk(audio.subarray(at, at + 65_536)));
    call.end();
    onStart();
    try {
      for await (const message of call) answers.push(decodeUploadAnswer(message as never)!);
    } catch (error) {
      answers.push(decodeFailure(error));
    }
    return answers;
  }

  it('names the speaker of each segment by overlap, and leaves the text as it is', async () => {
    expect((await caller.report()).capabilities).toContain('diarize');
    const plain = await answerOf('plain', { diarize: false });
    expect(plain.segments.every(({ speaker }) => speaker === undefined)).toBe(true);
    const named = await answerOf('named');
    expect(named.segments).toEqual(
      plain.segments.map(segment => ({ ...segment, speaker: speakerAt(middle(segment)) })),
    );
    expect(new Set(named.segments.map(({ speaker }) => speaker))).toEqual(new Set(['A', 'B']));
    expect(named.text).toBe(plain.text);
  });

  it('does so in translations, and calls a known voice by its name', async () => {
    const knownSpeakers = [{ name: 'Ann', reference: pcmWav(voice(2600, 2), RATE) }];
    const { segments } = await answerOf('translated', { task: 'translate', knownSpeakers });
    expect(segments.map(({ speaker }) => speaker)).toEqual(segments.map(one => speakerAt(middle(one), 'Ann')));
    expect(segments.map(({ speaker }) => speaker)).toContain('Ann');
  });

  it('fails a request whose voice is too short, with its field', async () => {
    const knownSpeakers = [{ name: 'Ann', reference: pcmWav(voice(2600, 1), RATE) }];
    await expect(answerOf('short', { knownSpeakers })).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'known_speaker_references',
    });
  });

  it('is consistent over the windows of 72 seconds, in segments and in the whole', async () => {
    const long = Buffer.concat(Array.from({ length: 6 }, () => Buffer.concat([TALK, SECOND])));
    const answers = await uploaded('long', pcmWav(long, RATE));
    const segments = answers.flatMap(answer => ('kind' in answer && answer.kind === 'segment' ? [answer.segment] : []));
    const done = answers.at(-1) as TranscribeAnswer;
    expect(done.transcript.segments).toEqual(segments);
    const firm = segments.filter(({ start, end }) => end - start < 4);
    expect(firm.map(({ speaker }) => speaker)).toEqual(firm.map(segment => speakerAt(middle(segment))));
    expect(firm.length).toBeGreaterThan(6);
  });

  it('ends a cancelled upload as cancelled, and answers the next request', async () => {
    const long = Buffer.concat(Array.from({ length: 6 }, () => TALK));
    const cancelled = async (): Promise<void> => {
      while (!(await caller.cancel('gone')));
    };
    const answers = await uploaded('gone', pcmWav(long, RATE), () => void cancelled());
    expect(answers.at(-1)).toMatchObject({ code: 'request_cancelled' });
    expect((await answerOf('next')).segments.map(({ speaker }) => speaker)).toContain('B');
  });

  it('wants both models, and says which one is missing', () => {
    const options = { modelDir: 'test/fixtures/whisper/spoken', embeddingModel: MODELS.embeddingModel };
    expect(engineObjections(modelSpec('whisper-onnx', 'stt', options))).toMatchObject([
      { path: 'options.segmentationModel', message: expect.stringContaining('beside embeddingModel') },
    ]);
  });
});

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
import { createEngine, engineObjections } from '../../../src/worker/engine-factory.js';
import { modelSpec } from '../../contract/engines/engine-items.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { DIARIZATION, speakerAt, TALK, TALK_RATE, talkPause, voice } from '../../support/talk.js';
import { SttCaller } from '../worker/stt-caller.js';
import { WorkerProcess } from '../worker/worker-process.js';

const middle = ({ start, end }: TranscriptSegment): number => (start + end) / 2;

describe('speakers beside whisper-onnx', () => {
  let worker: WorkerProcess;
  let caller: SttCaller;
  beforeAll(async () => {
    const options = { modelDir: 'test/fixtures/whisper/spoken', ...DIARIZATION };
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
    const outcome = await caller.send(id, { audio: pcmWav(TALK, TALK_RATE), diarize: true, ...change }).outcome;
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
    const knownSpeakers = [{ name: 'Ann', reference: pcmWav(voice(2600, 2), TALK_RATE) }];
    const { segments } = await answerOf('translated', { task: 'translate', knownSpeakers });
    expect(segments.map(({ speaker }) => speaker)).toEqual(segments.map(one => speakerAt(middle(one), 'Ann')));
    expect(segments.map(({ speaker }) => speaker)).toContain('Ann');
  });

  it('fails a request whose voice is too short, with its field', async () => {
    const knownSpeakers = [{ name: 'Ann', reference: pcmWav(voice(2600, 1), TALK_RATE) }];
    await expect(answerOf('short', { knownSpeakers })).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'known_speaker_references',
    });
  });

  it('is consistent over the windows of 72 seconds, in segments and in the whole', async () => {
    const long = Buffer.concat(Array.from({ length: 6 }, () => Buffer.concat([TALK, talkPause])));
    const answers = await uploaded('long', pcmWav(long, TALK_RATE));
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
    const answers = await uploaded('gone', pcmWav(long, TALK_RATE), () => void cancelled());
    expect(answers.at(-1)).toMatchObject({ code: 'request_cancelled' });
    expect((await answerOf('next')).segments.map(({ speaker }) => speaker)).toContain('B');
  });

  it('is refused without a file, by `models check` and before the library could end the process', async () => {
    const options = { modelDir: 'test/fixtures/whisper/spoken', ...DIARIZATION, embeddingModel: '/nonexistent.onnx' };
    const engine = createEngine(modelSpec('whisper-onnx', 'stt', options));
    const missing = 'The model /nonexistent.onnx does not exist (options.embeddingModel).';
    expect(() => engine.checkFiles?.()).toThrow(missing);
    await expect(engine.load()).rejects.toThrow(missing);
    const sound = createEngine(modelSpec('whisper-onnx', 'stt', { ...options, ...DIARIZATION }));
    expect(sound.checkFiles?.()).toMatch(/^needs \d+ MB/);
  });

  it('wants both models, and says which one is missing', () => {
    const options = { modelDir: 'test/fixtures/whisper/spoken', embeddingModel: DIARIZATION.embeddingModel };
    expect(engineObjections(modelSpec('whisper-onnx', 'stt', options))).toMatchObject([
      { path: 'options.segmentationModel', message: expect.stringContaining('beside embeddingModel') },
    ]);
  });
});

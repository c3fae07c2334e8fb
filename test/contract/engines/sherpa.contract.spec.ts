import { cp, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type SpeechRecognizer,
  type RecognizedSegment,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type SherpaRecognizer } from '@switchyard/engine-sherpa/recognizer.js';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { joinSamples, modelSpec, pcm, silence, transcribeItem } from './engine-items.js';
import { describeSpeechRecognizer, transcribeOne, valuesOf } from './recognizer-contract.js';
import { describeSpeechSynthesizer } from './synthesizer-contract.js';

/**
 * Tiny models with made-up weights on the real library (test/fixtures/sherpa): what they
 * hear means nothing, but is always the same.
 */
const folder = (name: string) => `test/fixtures/sherpa/${name}`;
const recognizer = (name: string, options = {}) =>
  createEngine(
    modelSpec('sherpa-onnx', 'stt', { modelDir: folder(name), ...options }),
  ) as SpeechRecognizer;
const voice = (options = {}) =>
  createEngine(
    modelSpec('sherpa-onnx', 'tts', { modelDir: folder('vits'), ...options }),
  ) as SpeechSynthesizer;

/** Notes of a quarter of a second, every fifth one a rest. */
function melody(seed: number, seconds: number): Int16Array {
  return Int16Array.from({ length: seconds * 16_000 }, (_, i) => {
    const note = Math.floor(i / 4000);
    const hertz = 150 + ((note * seed * 97) % 13) * 250;
    return note % 5 === 4 ? 0 : 9000 * Math.sin((2 * Math.PI * hertz * i) / 16_000);
  });
}

const subjectOf = (engine: SpeechRecognizer) =>
  Promise.resolve({
    engine,
    first: pcm(melody(1, 2)),
    second: pcm(melody(2, 3)),
    empty: pcm(new Int16Array(0)),
    endless: pcm(joinSamples(Array.from({ length: 90 }, () => melody(3, 10)))),
    failing: [pcm(melody(1, 1)), { prompt: 'names' }] as const satisfies Parameters<
      typeof transcribeItem
    >,
    utterances: [melody(1, 2), melody(2, 3)] as const,
  });

describeSpeechRecognizer(
  'sherpa-onnx, a model for files',
  () => subjectOf(recognizer('nemo-ctc', { maxBatch: 2 })),
  { streams: false },
);
describeSpeechRecognizer('sherpa-onnx, a streaming model', () =>
  subjectOf(
    createEngine({
      ...modelSpec('sherpa-onnx', 'stt', { modelDir: folder('streaming-nemo-ctc'), streams: 3 }),
      languages: ['en'],
    }) as SpeechRecognizer,
  ),
);
describeSpeechSynthesizer('sherpa-onnx', () => ({ engine: voice(), voice: '1' }));

describe('sherpa-onnx', () => {
  const files = recognizer('nemo-ctc');
  beforeAll(() => files.load());
  afterAll(() => files.close());

  it('tells the type of the model from its files', () => {
    expect(files.info).toMatchObject({ engine: 'sherpa-onnx', device: 'cpu', streams: 0 });
    expect(files.info.revision).toMatch(/^nemo-ctc nemo-ctc sha256:[0-9a-f]{12}$/);
  });

  it('hears nothing in silence and in 10 samples', async () => {
    expect((await transcribeOne(files, pcm(silence(2)))).text).toBe('');
    expect((await transcribeOne(files, pcm(new Int16Array(10)))).segments).toEqual([]);
  });

  it('tells segments of a long file as they come, times on the clock of the file', async () => {
    const told: RecognizedSegment[] = [];
    const audio = pcm(melody(5, 60));
    const item = transcribeItem(audio, { onSegment: segment => told.push(segment) });
    const [transcript] = valuesOf(await files.transcribe([item]));
    expect(told.length).toBeGreaterThanOrEqual(4);
    expect(transcript!.segments).toEqual(told);
    expect(transcript!.words.at(-1)!.start).toBeGreaterThan(50);
    expect(transcript!.words.at(-1)!.end).toBeLessThanOrEqual(60);
  });

  it.each([
    [{ task: 'translate' } as const, 'unsupported_parameter', 'task'],
    [{ temperature: 0.5 }, 'unsupported_parameter', 'temperature'],
    [{ hotWords: ['Kubernetes'] }, 'unsupported_parameter', 'hot_words'],
    [{ language: 'fr' }, 'invalid_value', 'language'],
  ])('refuses %j, which it could only ignore', async (changes, code, param) => {
    const outcomes = await files.transcribe([transcribeItem(pcm(silence(1)), changes)]);
    expect(outcomes).toMatchObject([{ ok: false, error: { code, param } }]);
  });

  it('computes a draft whatever language was heard before', async () => {
    const item = transcribeItem(pcm(silence(1)), { language: 'fr', draft: true });
    expect(valuesOf(await files.transcribe([item]))).toMatchObject([{ text: '' }]);
  });

  it('decodes live streams together, each with the words it has alone', async () => {
    const engine = recognizer('streaming-nemo-ctc', { streams: 8 });
    await engine.load();
    const hear = async (samples: Int16Array) => {
      const stream = await engine.openStream!({ language: '', partials: false });
      for (let at = 0; at < samples.length; at += 1600)
        await stream.push(samples.subarray(at, at + 1600));
      const [final] = await stream.commit();
      await stream.close();
      return final!.text;
    };
    const songs = Array.from({ length: 8 }, (_, i) => melody(i + 1, 3));
    const solo: string[] = [];
    for (const song of songs) solo.push(await hear(song));
    const before = await (engine as SherpaRecognizer).streamCounters();
    expect(before.rows).toBe(before.runs);
    expect(await Promise.all(songs.map(hear))).toEqual(solo);
    const after = await (engine as SherpaRecognizer).streamCounters();
    expect(after.rows - before.rows).toBe(before.rows);
    expect(after.runs - before.runs).toBeLessThan(before.runs / 4);
    await engine.close();
  });

  it('names speakers as voices, and says what they sound like apart', async () => {
    const engine = voice({ speakers: ['anna'] });
    await engine.load();
    expect(engine.voices.map(({ id }) => id)).toEqual(['anna', '1']);
    expect(engine.sampleRate).toBe(16_000);
    await engine.close();
  });

  describe('with models of segmentation and embedding', () => {
    const engine = recognizer('nemo-ctc', {
      segmentationModel: `${folder('diarization')}/segmentation.onnx`,
      embeddingModel: `${folder('diarization')}/embedding.onnx`,
    });
    beforeAll(() => engine.load());
    afterAll(() => engine.close());

    /**
     * A voice: one pitch, four syllables a second; this model hears "te" at 450 Hz and
     * "lo" at 2600 Hz.
     */
    const speaker = (hertz: number, seconds: number): Int16Array =>
      Int16Array.from({ length: seconds * 16_000 }, (_, i) =>
        i % 4000 > 3200 ? 0 : 9000 * Math.sin((2 * Math.PI * hertz * i) / 16_000),
      );
    const talk = pcm(
      joinSamples([speaker(450, 3), silence(1), speaker(2600, 3), silence(1), speaker(450, 3)]),
    );
    const speakersOf = async (changes = {}): Promise<(string | undefined)[]> => {
      const [transcript] = valuesOf(
        await engine.transcribe([transcribeItem(talk, { diarize: true, ...changes })]),
      );
      expect(transcript!.segments.map(({ text }) => text).join(' ')).toBe(transcript!.text);
      return transcript!.segments.map(segment => segment.speaker);
    };

    it('tells two speakers apart and knows the first again', async () => {
      expect(engine.info.capabilities).toContain('diarize');
      expect(await speakersOf()).toEqual(['A', 'B', 'A']);
    });

    it('calls a known voice by its name', async () => {
      expect(
        await speakersOf({ knownSpeakers: [{ name: 'Ann', samples: speaker(2600, 2) }] }),
      ).toEqual(['A', 'Ann', 'A']);
    });

    it('names nobody unless asked', async () => {
      expect(await speakersOf({ diarize: false })).toEqual([undefined]);
    });
  });

  it('refuses to tell speakers apart without the models, and one of the two without the other', async () => {
    const [outcome] = await files.transcribe([transcribeItem(pcm(silence(1)), { diarize: true })]);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'unsupported_parameter' } });
    expect(() => recognizer('nemo-ctc', { embeddingModel: 'a.onnx' })).toThrow(
      /options.segmentationModel is ""/,
    );
  });

  it.each([
    [
      'a folder that is not there',
      'nowhere',
      {},
      /options.modelDir 'test\/fixtures\/sherpa\/nowhere' cannot be read/,
    ],
    [
      'a folder of another kind',
      'vits',
      {},
      /its type cannot be told from its files.*There: lexicon.txt, model.onnx/,
    ],
    [
      'a type whose files are missing',
      'nemo-ctc',
      { type: 'transducer' },
      /\*encoder\*.onnx of a transducer model is missing/,
    ],
    [
      'a model for files as a streaming one',
      'nemo-ctc',
      { streams: 1, type: 'whisper' },
      /streaming model.*whisper/,
    ],
  ])('says what is wrong with %s', async (_what, name, options, message) => {
    const engine = recognizer(name, options);
    await expect(engine.load()).rejects.toThrow(message);
    await engine.close();
  });

  it.each([
    ['cut off', 3000, /model\.onnx is cut off: it has 3000 bytes and needs at least \d+\.$/],
    ['empty', 0, /model\.onnx is empty\.$/],
  ])(
    'says so when a model file is %s, before the library ends the process over it',
    async (_what, bytes, message) => {
      const damaged = temporaryFolder();
      await cp(folder('nemo-ctc'), damaged, { recursive: true });
      const model = join(damaged, 'model.onnx');
      await truncate(model, bytes);
      for (const options of [
        { modelDir: damaged, type: 'nemo-ctc' },
        { modelDir: damaged, type: 'nemo-ctc', streams: 1 },
        { segmentationModel: model, embeddingModel: model },
      ]) {
        const engine = recognizer('nemo-ctc', options);
        expect(() => engine.checkFiles?.()).toThrow(message);
        await expect(engine.load()).rejects.toThrow(message);
        await engine.close();
      }
    },
  );

  it('refuses CUDA with the reason, and all other wrong options with it', () => {
    expect(() => recognizer('nemo-ctc', { device: 'cuda:0' })).toThrow(
      /device is "cuda:0"; allowed: cpu \(/,
    );
    expect(() => recognizer('nemo-ctc', { provider: 'cuda', maxBatch: 9, type: 'siri' })).toThrow(
      /type is "siri".*provider is "cuda"; allowed: cpu \(the npm build of sherpa-onnx has no CUDA.*maxBatch is 9/,
    );
  });
});

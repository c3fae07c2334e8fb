import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TranscribeItem } from '../../../src/worker/engines/speech-recognizer.js';
import { rhythm, whisperEngine, whisperFolder } from '../../support/whisper-model.js';
import { pcm, transcribeItem } from '../../contract/engines/engine-items.js';
import { valuesOf } from '../../contract/engines/recognizer-contract.js';

describe('whisper-onnx decoding with random weights', () => {
  const engine = whisperEngine();
  const hear = async (changes: Partial<TranscribeItem> = {}, seconds = 2, seed = 7) => {
    const items = [transcribeItem(pcm(rhythm(seconds, seed)), changes)];
    return valuesOf(await engine.transcribe(items))[0]!;
  };
  beforeAll(() => engine.load());
  afterAll(() => engine.close());

  it('says what the folder allows', () => {
    expect(engine.info).toMatchObject({ languages: ['en', 'de', 'fr', 'ja'], device: 'cpu', maxBatch: 8 });
    expect(engine.info.capabilities).toEqual(expect.arrayContaining(['translate', 'word_timestamps', 'logprobs']));
  });

  it('detects one of its languages, and takes the one asked for, with or without a region', async () => {
    const { language } = await hear();
    expect(['en', 'de', 'fr', 'ja']).toContain(language);
    expect((await hear({ language: 'de-AT' })).language).toBe('de');
    expect(await hear({ language })).toEqual(await hear());
  });

  it('gives other text for another language, task, prompt and hot words: each of them acts', async () => {
    const base = { language: 'en', temperature: 0.6 };
    const answers = [];
    for (const change of [
      {},
      { language: 'fr' },
      { task: 'translate' as const },
      { prompt: 'red' },
      { hotWords: ['black'] },
    ]) {
      answers.push(JSON.stringify((await hear({ ...base, ...change }, 4)).segments));
    }
    expect(new Set(answers).size).toBe(answers.length);
  });

  it('tries higher temperatures when it is unsure, and stays at the one asked for', async () => {
    const hot: number[] = [];
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      hot.push(...(await hear({}, 6, seed)).segments.map(({ temperature }) => temperature!));
    }
    expect(Math.max(...hot)).toBeGreaterThan(0);
    expect(hot.every(temperature => [0, 0.2, 0.4, 0.6, 0.8, 1].includes(temperature))).toBe(true);
    const asked = (await hear({ temperature: 0.3 }, 6)).segments.map(({ temperature }) => temperature);
    expect(new Set(asked)).toEqual(new Set([0.3]));
  });

  it('gives times that never go back and stay in the audio', async () => {
    const { segments } = await hear({}, 7, 8);
    expect(segments.length).toBeGreaterThan(1);
    let before = 0;
    for (const { start, end } of segments) {
      expect(start).toBeGreaterThanOrEqual(before);
      expect(end).toBeGreaterThanOrEqual(start);
      expect(end).toBeLessThanOrEqual(7);
      before = start;
    }
  });

  it('gives a log probability per text token; the tokens are the text', async () => {
    const { text, logprobs } = await hear({ logprobs: true });
    expect(Buffer.concat(logprobs!.map(({ bytes }) => bytes)).toString()).toBe(` ${text}`);
    expect(logprobs!.every(({ logprob }) => logprob <= 0)).toBe(true);
    expect((await hear()).logprobs).toBeUndefined();
  });
});

describe('whisper-onnx without cross attentions', () => {
  const engine = whisperEngine({ modelDir: whisperFolder('random-plain') });
  beforeAll(() => engine.load());
  afterAll(() => engine.close());

  it('has no word times and refuses to make them up', async () => {
    expect(engine.info.capabilities).not.toContain('word_timestamps');
    const audio = pcm(rhythm(2, 7));
    const [refused, heard] = await engine.transcribe([
      transcribeItem(audio),
      transcribeItem(audio, { wordTimestamps: false }),
    ]);
    expect(refused).toMatchObject({ ok: false, error: { code: 'unsupported_parameter' } });
    expect(valuesOf([heard!])[0]!.text).not.toBe('');
  });
});

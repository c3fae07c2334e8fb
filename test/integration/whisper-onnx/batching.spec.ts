import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type TranscribeItem, type RecognizedTranscript } from '../../../src/worker/engines/speech-recognizer.js';
import { type WhisperCounters } from '../../../src/worker/engines/whisper-onnx/protocol.js';
import { difference, endlessRhythm, rhythm, whisperEngine } from '../../support/whisper-model.js';
import { pcm, transcribeItem } from '../../contract/engines/engine-items.js';
import { nextTurn, valuesOf } from '../../contract/engines/recognizer-contract.js';

/** One try per window: how many steps it takes depends on the audio alone. */
const ONE_TRY = { temperature: 0.9, wordTimestamps: false, language: 'en' };
const item = (seconds: number, seed: number, changes: Partial<TranscribeItem> = {}) =>
  transcribeItem(pcm(rhythm(seconds, seed)), { ...ONE_TRY, ...changes });

describe('whisper-onnx batching', () => {
  const engine = whisperEngine();
  let before: WhisperCounters;
  const ran = async () => difference(await engine.counters(), before);
  beforeAll(() => engine.load());
  afterAll(() => engine.close());
  beforeEach(async () => {
    before = await engine.counters();
  });

  it('runs 6 windows in 1 encoder run and as many decoder runs as the longest; each result as when alone', async () => {
    const alone: { seed: number; runs: number; transcript: RecognizedTranscript }[] = [];
    for (let seed = 3; alone.length < 6; seed++) {
      const start = await engine.counters();
      const [transcript] = valuesOf(await engine.transcribe([item(0.3, seed)]));
      const { windows, decodeRuns: runs } = difference(await engine.counters(), start);
      if (windows === 1) alone.push({ seed, runs, transcript: transcript! });
    }
    before = await engine.counters();
    const together = valuesOf(await engine.transcribe(alone.map(({ seed }) => item(0.3, seed))));
    const counted = await ran();
    const runs = alone.map(one => one.runs);
    expect(together).toEqual(alone.map(({ transcript }) => transcript));
    expect(new Set(runs).size).toBeGreaterThan(1);
    expect(counted).toEqual({
      ...{ encoderRuns: 1, windows: 6, prefillRuns: 1, detectRuns: 0, alignRuns: 0 },
      decodeRuns: Math.max(...runs),
      decodedTokens: runs.reduce((sum, count) => sum + count, 0),
    });
  });

  it('never has more rows than maxBatch: 12 files share 8 rows, each as when alone', async () => {
    const seeds = Array.from({ length: 12 }, (_, i) => i + 20);
    const together = valuesOf(await engine.transcribe(seeds.map(seed => item(0.3, seed))));
    const { encoderRuns, windows, decodeRuns, decodedTokens } = await ran();
    expect(windows / encoderRuns).toBeLessThanOrEqual(8);
    expect(encoderRuns).toBeLessThan(windows);
    expect(decodedTokens / decodeRuns).toBeGreaterThan(2);
    expect(decodedTokens / decodeRuns).toBeLessThanOrEqual(8);
    for (const [i, seed] of seeds.entries()) {
      expect(valuesOf(await engine.transcribe([item(0.3, seed)]))).toEqual([together[i]]);
    }
  });

  it('shares runs between prompts of any length and several windows, with fallback, words and languages', async () => {
    const changes = [
      { language: '', temperature: 0, wordTimestamps: true },
      { prompt: 'red green blue', temperature: 0 },
      { hotWords: ['black', 'blue'], language: 'fr', temperature: 0.8, wordTimestamps: true },
      { language: '', task: 'translate' as const },
    ];
    const items = changes.map((change, i) => item(2 + i, i + 30, change));
    const together = valuesOf(await engine.transcribe(items));
    const batched = await ran();
    before = await engine.counters();
    const alone = [];
    for (const one of items) alone.push(...valuesOf(await engine.transcribe([one])));
    const single = await ran();
    expect(together).toEqual(alone);
    expect(batched.windows).toBe(single.windows);
    expect(batched.decodedTokens).toBe(single.decodedTokens);
    expect(batched.encoderRuns).toBeLessThan(single.encoderRuns);
    expect(batched.decodeRuns).toBeLessThan(single.decodeRuns * 0.7);
    expect(batched.detectRuns).toBe(1);
  });

  it('lets a second engine call join while the first runs, and leave before it ends', async () => {
    const [alone] = valuesOf(await engine.transcribe([item(2, 9)]));
    const abort = new AbortController();
    let started: () => void = () => undefined;
    const running = new Promise<void>(resolve => (started = resolve));
    const endless = { ...ONE_TRY, signal: abort.signal, onSegment: () => started() };
    const first = engine.transcribe([transcribeItem(pcm(endlessRhythm(10)), endless)]);
    await running;
    expect(valuesOf(await engine.transcribe([item(2, 9)]))).toEqual([alone]);
    abort.abort();
    expect(await first).toMatchObject([{ ok: false, error: { code: 'request_cancelled' } }]);
  });

  it('tells segments as they are final, in order, the same that the transcript has', async () => {
    const told: unknown[] = [];
    const [transcript] = valuesOf(await engine.transcribe([item(9, 11, { onSegment: segment => told.push(segment) })]));
    expect(told.length).toBeGreaterThan(3);
    expect(told).toEqual(transcript!.segments);
  });

  it('lets a cancelled row go after the step, its neighbours as when alone', async () => {
    const [alone] = valuesOf(await engine.transcribe([item(6, 12)]));
    const abort = new AbortController();
    const endless = transcribeItem(pcm(endlessRhythm(13)), {
      ...ONE_TRY,
      signal: abort.signal,
      onSegment: () => abort.abort(),
    });
    const [gone, kept] = await engine.transcribe([endless, item(6, 12)]);
    expect(gone).toMatchObject({ ok: false, error: { code: 'request_cancelled' } });
    expect(valuesOf([kept!])).toEqual([alone]);
    expect((await ran()).windows).toBeLessThan(60);
  });

  it('leaves the loop free while it computes', async () => {
    let turns = 0;
    let running = true;
    const done = engine.transcribe([item(20, 14)]).finally(() => (running = false));
    for (; running; turns++) await nextTurn();
    await done;
    expect(turns).toBeGreaterThan(100);
  });
});

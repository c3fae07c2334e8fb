import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { wordErrors } from '../../support/word-errors.js';
import {
  joinSamples,
  modelSpec,
  pcm,
  silence,
  synthesizeItem,
  transcribeItem,
} from './engine-items.js';
import { describeSpeechRecognizer, transcribeOne, valuesOf } from './recognizer-contract.js';

const voice = createEngine(modelSpec('flite', 'tts')) as SpeechSynthesizer;
const FIRST = 'He opened the window because the room was too hot.';
const SECOND = 'The government announced a new plan to build more houses.';
/** A second each: for what holds of any audio. */
const BRIEF = ['Stop the music.', 'Open the window.'] as const;

async function say(text: string, voiceId = 'rms'): Promise<Int16Array> {
  const speech = synthesizeItem(text, voiceId);
  valuesOf(await voice.synthesize([speech.item]));
  return speech.all();
}

const recognizer = (options = {}) =>
  createEngine(modelSpec('pocketsphinx', 'stt', options)) as SpeechRecognizer;

beforeAll(() => voice.load());
afterAll(() => voice.close());

describeSpeechRecognizer('pocketsphinx', async () => {
  const [first, second] = [await say(BRIEF[0]), await say(BRIEF[1])];
  return {
    engine: recognizer({ threads: 2, streams: 2 }),
    first: pcm(first),
    second: pcm(second),
    empty: pcm(new Int16Array(0)),
    endless: pcm(joinSamples(Array.from({ length: 600 }, () => second))),
    failing: [pcm(first), { language: 'de' }],
    utterances: [first, second],
  };
});

describe('pocketsphinx', () => {
  const engine = recognizer();
  beforeAll(() => engine.load());
  afterAll(() => engine.close());

  it('understands what flite says: the round trip', async () => {
    expect((await transcribeOne(engine, pcm(await say(FIRST)))).text).toBe(
      'he opened the window because the room was too hot',
    );
    const { text } = await transcribeOne(engine, pcm(await say(SECOND, 'slt')));
    const heard = new Set(text.split(' '));
    const missed = SECOND.toLowerCase()
      .replace('.', '')
      .split(' ')
      .filter(word => !heard.has(word));
    expect(missed.length).toBeLessThanOrEqual(2);
  });

  it('times words by the clock of the audio, through 2 s of silence before and 3 s between', async () => {
    const first = await say(FIRST);
    const audio = joinSamples([silence(2), first, silence(3), await say(SECOND)]);
    const { words, segments } = await transcribeOne(engine, pcm(audio));
    const start = (word: string) => words.find(candidate => candidate.word === word)!.start;
    expect(Math.abs(start('window') - 2.93)).toBeLessThan(0.2);
    expect(start('government')).toBeGreaterThan(2 + first.length / 16_000 + 3);
    expect(segments).toHaveLength(2);
  });

  it('hears nothing in silence and in 10 samples', async () => {
    expect((await transcribeOne(engine, pcm(silence(2)))).text).toBe('');
    expect((await transcribeOne(engine, pcm(new Int16Array(10)))).text).toBe('');
  });

  it('takes audio longer than one utterance whole, in order', async () => {
    const sentence = await say(FIRST);
    const { words } = await transcribeOne(
      engine,
      pcm(joinSamples(Array.from({ length: 7 }, () => sentence))),
    );
    expect(words.filter(({ word }) => word === 'window').length).toBeGreaterThanOrEqual(6);
  });

  it.each(['rms', 'slt', 'awb'])(
    'hears %s live as well as from a file',
    async who => {
      const stream = await engine.openStream!({ language: 'en', partials: true });
      const errors = { live: 0, file: 0 };
      for (const said of BRIEF) {
        const audio = joinSamples([silence(0.3), await say(said, who), silence(0.5)]);
        await stream.push(audio);
        const [final] = await stream.commit();
        errors.live += wordErrors(said, final!.text);
        errors.file += wordErrors(said, (await transcribeOne(engine, pcm(audio))).text);
      }
      await stream.close();
      expect(errors.live).toBeLessThanOrEqual(errors.file + 1);
    },
    60_000,
  );

  it('releases a live stream in the middle of 20 s of audio; the next one is not affected', async () => {
    const sentence = await say(BRIEF[0]);
    const gone = await engine.openStream!({ language: 'en', partials: true });
    await gone.push(sentence);
    const pushed = gone.push(joinSamples(Array.from({ length: 16 }, () => sentence)));
    await gone.close();
    expect(await pushed).toEqual([]);
    const next = await engine.openStream!({ language: 'en', partials: true });
    await next.push(sentence);
    const [final] = await next.commit();
    await next.close();
    expect(wordErrors(BRIEF[0], final!.text)).toBeLessThanOrEqual(1);
  });

  it('leaves the loop free while it decodes', async () => {
    let turns = 0;
    let running = true;
    const decoded = transcribeOne(engine, pcm(await say(BRIEF[0]))).finally(
      () => (running = false),
    );
    for (; running; turns++) await nextTurn();
    await decoded;
    expect(turns).toBeGreaterThan(100);
  });

  it.each([
    [{ prompt: 'Proper names' }, 'unsupported_parameter', 'prompt'],
    [{ temperature: 0.5 }, 'unsupported_parameter', 'temperature'],
    [{ language: 'fr' }, 'invalid_value', 'language'],
  ])('refuses %j, which it could only ignore', async (changes, code, param) => {
    const outcomes = await engine.transcribe([transcribeItem(pcm(silence(1)), changes)]);
    expect(outcomes).toMatchObject([{ ok: false, error: { code, param } }]);
  });

  it('takes translation of English as it is', async () => {
    const item = transcribeItem(pcm(await say(FIRST)), { task: 'translate', language: 'en' });
    expect(valuesOf(await engine.transcribe([item]))[0]!.text).toContain('window');
  });

  it('says what to install when the model is missing', async () => {
    const lost = recognizer({ modelDir: '/nowhere' });
    await expect(lost.load()).rejects.toThrow(
      'apt-get install -y --no-install-recommends pocketsphinx-en-us',
    );
    await lost.close();
  });

  it('settles what runs when it is closed, and what comes later', async () => {
    const closing = recognizer();
    await closing.load();
    const sentence = await say(SECOND);
    const long = pcm(joinSamples(Array.from({ length: 100 }, () => sentence)));
    const running = closing.transcribe([transcribeItem(long), transcribeItem(long)]);
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    await closing.close();
    expect((await running).map(({ ok }) => ok)).toEqual([false, false]);
    expect((await closing.transcribe([transcribeItem(pcm(sentence))])).map(({ ok }) => ok)).toEqual(
      [false],
    );
  });
});

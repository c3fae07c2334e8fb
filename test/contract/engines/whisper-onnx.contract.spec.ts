import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { type SpeechSynthesizer } from '../../../src/worker/engines/speech-synthesizer.js';
import { endlessRhythm, rhythm, whisperEngine, whisperFolder } from '../../support/whisper-model.js';
import { joinSamples, modelSpec, pcm, silence, synthesizeItem, transcribeItem } from './engine-items.js';
import { describeSpeechRecognizer, transcribeOne, valuesOf } from './recognizer-contract.js';

describeSpeechRecognizer(
  'whisper-onnx with random weights',
  () =>
    Promise.resolve({
      engine: whisperEngine(),
      first: pcm(rhythm(3, 7)),
      second: pcm(rhythm(1.5, 20)),
      empty: pcm(new Int16Array(0)),
      endless: pcm(endlessRhythm(5)),
      failing: [pcm(rhythm(1, 3)), { language: 'xx' }],
    }),
  { streams: false },
);

const voice = createEngine(modelSpec('flite', 'tts')) as SpeechSynthesizer;
/** It was trained on single windows: told the text before, it is less sure. */
const spokenEngine = () => whisperEngine({ modelDir: whisperFolder('spoken'), conditionOnPreviousText: false });
const FIRST = 'one nine four';
const SECOND = 'green black black five';

async function say(text: string, voiceId = 'rms'): Promise<Int16Array> {
  const speech = synthesizeItem(`${text}.`, voiceId);
  valuesOf(await voice.synthesize([speech.item]));
  return speech.all();
}

beforeAll(() => voice.load());
afterAll(() => voice.close());

describeSpeechRecognizer(
  'whisper-onnx with trained weights',
  async () => ({
    engine: spokenEngine(),
    first: pcm(await say(FIRST)),
    second: pcm(await say(SECOND)),
    empty: pcm(new Int16Array(0)),
    endless: pcm(endlessRhythm(5)),
    failing: [pcm(silence(1)), { language: 'xx' }],
  }),
  { streams: false },
);

describe('whisper-onnx with trained weights', () => {
  const engine = spokenEngine();
  beforeAll(() => engine.load());
  afterAll(() => engine.close());

  it('understands what flite says, eight files in 1 encoder run, in the language it hears', async () => {
    const texts = [
      ...[FIRST, SECOND, 'seven two', 'blue blue three', 'six eight', 'red green zero', 'yes five', 'no one seven'],
    ];
    const audio = await Promise.all(texts.map(text => say(text)));
    const heard = valuesOf(await engine.transcribe(audio.map(samples => transcribeItem(pcm(samples)))));
    const right = heard.filter(({ text }, i) => text === texts[i]).length;
    expect(heard.slice(0, 2).map(({ text }) => text)).toEqual(texts.slice(0, 2));
    expect(right).toBeGreaterThanOrEqual(6);
    expect(new Set(heard.map(({ language }) => language))).toEqual(new Set(['en']));
  });

  it('hears nothing in silence', async () => {
    expect((await transcribeOne(engine, pcm(silence(3)))).text).toBe('');
  });

  it('walks through audio longer than its window of 4 s, with times by the clock of the audio', async () => {
    const texts = [FIRST, SECOND, 'seven two', FIRST];
    const parts = await Promise.all(texts.map(text => say(text)));
    const audio = joinSamples(parts.flatMap(part => [part, silence(0.5)]));
    const { text, segments, words } = await transcribeOne(engine, pcm(audio));
    const spoken = texts.join(' ').split(' ');
    // One wrong word is forgiven: recognition is real.
    expect(Math.abs(text.split(' ').length - spoken.length)).toBeLessThanOrEqual(1);
    expect(spoken.filter(word => text.includes(word)).length).toBeGreaterThanOrEqual(spoken.length - 1);
    expect(segments.length).toBeGreaterThanOrEqual(3);
    const thirdFromS = (parts[0]!.length + parts[1]!.length) / 16_000 + 1;
    expect(Math.abs(words.find(({ word }) => word === 'seven')!.start - thirdFromS)).toBeLessThan(0.4);
  });
});

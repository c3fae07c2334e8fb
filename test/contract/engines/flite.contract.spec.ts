import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { modelSpec, synthesizeItem } from './engine-items.js';
import { describeSpeechSynthesizer } from './synthesizer-contract.js';

const create = () => createEngine(modelSpec('flite', 'tts')) as SpeechSynthesizer;

for (const voice of ['rms', 'slt', 'awb'])
  describeSpeechSynthesizer(`flite ${voice}`, () => ({ engine: create(), voice }));

describe('flite', () => {
  const engine = create();
  beforeAll(() => engine.load());
  afterAll(() => engine.close());

  it('emits sentence by sentence', async () => {
    const speech = synthesizeItem('Dr. Smith is in. He costs 3.50 dollars! Really?', 'rms');
    await engine.synthesize([speech.item]);
    expect(speech.parts).toHaveLength(3);
  });

  it('speaks 16 kHz speech, not silence', async () => {
    const speech = synthesizeItem('Hello.', 'slt');
    await engine.synthesize([speech.item]);
    expect(Math.max(...speech.all())).toBeGreaterThan(4000);
    expect(engine.sampleRate).toBe(16_000);
  });

  it.each(['你好世界', 'Привет мир', '...', '\0\x01', '😀'])(
    'refuses %j: nothing an English voice can speak',
    async text => {
      const speech = synthesizeItem(text, 'rms');
      expect(await engine.synthesize([speech.item])).toMatchObject([
        { ok: false, error: { code: 'invalid_value', param: 'input' } },
      ]);
    },
  );

  it('refuses a second engine in the same process, whose voices would be the same memory', async () => {
    const second = create();
    await expect(second.load()).rejects.toThrow('one flite engine');
    await second.close();
  });
});

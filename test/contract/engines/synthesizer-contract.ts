import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type CollectedSpeech, joinSamples, synthesizeItem } from './engine-items.js';

export interface SynthesizerSubject {
  readonly engine: SpeechSynthesizer;
  readonly voice: string;
}

const TEXT = 'The train leaves at seven. It arrives before noon. Nobody waits for it.';

/** Also what only looks like an end, and more than a piece holds. */
const TRICKY = `${TEXT} It leaves at seven a.m. before noon?!\n\n...\n${'The train leaves, '.repeat(30)} it arrives`;

/** The rules of `SpeechSynthesizer`, run against every synthesiser. */
export function describeSpeechSynthesizer(name: string, create: () => SynthesizerSubject): void {
  describe(`${name} keeps the SpeechSynthesizer contract`, () => {
    let engine: SpeechSynthesizer;
    let voice: string;
    const speak = async (...speeches: CollectedSpeech[]) =>
      engine.synthesize(speeches.map(({ item }) => item));

    beforeAll(async () => {
      ({ engine, voice } = create());
      await engine.load();
    });
    afterAll(() => engine.close());

    it('tells after load what it is, and lists the voice', () => {
      expect(engine.info.revision).not.toBe('');
      expect(engine.info.capabilities).toContain('speech');
      expect(engine.voices.map(({ id }) => id)).toContain(voice);
    });

    it('answers an empty group with an empty list', async () => {
      expect(await engine.synthesize([])).toEqual([]);
    });

    it('emits as many samples as the outcome says', async () => {
      const speech = synthesizeItem(TEXT, voice);
      const [outcome] = await speak(speech);
      expect(outcome).toEqual({
        ok: true,
        value: { durationS: speech.all().length / engine.sampleRate },
      });
      expect(speech.all().length).toBeGreaterThan(engine.sampleRate);
    });

    it('says the same text the same way whatever it said before', async () => {
      const [before, between, after] = [
        synthesizeItem(TEXT, voice),
        synthesizeItem('Something else.', voice, { speed: 2 }),
        synthesizeItem(TEXT, voice),
      ];
      expect((await speak(before, between, after)).map(({ ok }) => ok)).toEqual([true, true, true]);
      expect(Buffer.from(after.all().buffer).equals(Buffer.from(before.all().buffer))).toBe(true);
    });

    it('speaks each sentence alone as it does in the whole text', async () => {
      const sentences = engine.sentencesOf?.(TRICKY) ?? [TRICKY];
      const whole = synthesizeItem(TRICKY, voice);
      const parts = sentences.map(text => synthesizeItem(text, voice));
      for (const { text } of parts.map(({ item }) => item))
        expect(engine.sentencesOf?.(text) ?? [text]).toEqual([text]);
      expect((await speak(whole, ...parts)).map(({ ok }) => ok)).not.toContain(false);
      const joined = joinSamples(parts.map(part => part.all()));
      expect(Buffer.from(joined.buffer).equals(Buffer.from(whole.all().buffer))).toBe(true);
      expect(engine.sentencesOf?.(' \n ') ?? []).toEqual([]);
    });

    it('speaks faster at speed 2 and slower at speed 0.5', async () => {
      const [fast, plain, slow] = [2, 1, 0.5].map(speed => synthesizeItem(TEXT, voice, { speed }));
      await speak(fast!, plain!, slow!);
      const length = plain!.all().length;
      expect(fast!.all().length / length).toBeGreaterThan(0.4);
      expect(fast!.all().length / length).toBeLessThan(0.65);
      expect(slow!.all().length / length).toBeGreaterThan(1.7);
      expect(slow!.all().length / length).toBeLessThan(2.3);
    });

    it.each([
      ['an unknown voice', { voice: 'nobody' }, 'voice_not_found', 'voice'],
      ['a speed outside 0.25..4', { speed: 5 }, 'invalid_value', 'speed'],
      ['nothing to say', { text: ' \n ' }, 'invalid_value', 'input'],
    ])('refuses %s, and its neighbours are spoken', async (_title, changes, code, param) => {
      const [one, bad, two] = [
        synthesizeItem(TEXT, voice),
        synthesizeItem(TEXT, voice, changes),
        synthesizeItem(TEXT, voice),
      ];
      const outcomes = await speak(one, bad, two);
      expect(outcomes.map(({ ok }) => ok)).toEqual([true, false, true]);
      expect(outcomes[1]).toMatchObject({ error: { code, param } });
      expect(bad.parts).toEqual([]);
    });

    it('emits nothing for an item aborted before the call', async () => {
      const gone = synthesizeItem(TEXT, voice, { signal: AbortSignal.abort() });
      const kept = synthesizeItem(TEXT, voice);
      const outcomes = await speak(gone, kept);
      expect(outcomes).toMatchObject([
        { ok: false, error: { code: 'request_cancelled' } },
        { ok: true },
      ]);
      expect(gone.parts).toEqual([]);
    });

    it('emits no more once an item is aborted while it is spoken', async () => {
      const abort = new AbortController();
      let parts = 0;
      const emit = () => {
        parts++;
        abort.abort();
      };
      const [outcome] = await speak(
        synthesizeItem(TEXT.repeat(40), voice, { signal: abort.signal, emit }),
      );
      expect(outcome).toMatchObject({ ok: false, error: { code: 'request_cancelled' } });
      expect(parts).toBe(1);
    });

    it('keeps a consumer that throws to its own item', async () => {
      const emit = () => {
        throw new Error('the consumer is gone');
      };
      const outcomes = await speak(
        synthesizeItem(TEXT, voice, { emit }),
        synthesizeItem(TEXT, voice),
      );
      expect(outcomes).toMatchObject([
        { ok: false, error: { message: 'the consumer is gone' } },
        { ok: true },
      ]);
    });

    it('closes once, however often it is asked', async () => {
      await Promise.all([engine.close(), engine.close()]);
      await engine.close();
    });
  });
}

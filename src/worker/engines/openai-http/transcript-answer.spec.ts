import { describe, expect, it } from '@jest/globals';
import { transcriptIn } from './transcript-answer.js';

const CONTEXT = { language: '', durationS: 0, wordTimestamps: true };

describe('transcriptIn', () => {
  it("takes OpenAI's verbose_json: trimmed texts, words beside the segments, the language as a tag", () => {
    const segments = [
      { start: 0, end: 1.5, text: ' Hi there.', avg_logprob: -0.3, no_speech_prob: 0.1 },
    ];
    const words = [{ word: 'Hi', start: 0, end: 0.4 }];
    expect(
      transcriptIn(
        { text: ' Hi there.', language: 'english', duration: 2, segments, words },
        CONTEXT,
      ),
    ).toEqual({
      text: 'Hi there.',
      language: 'en',
      durationS: 2,
      segments: [{ start: 0, end: 1.5, text: 'Hi there.', avgLogprob: -0.3, noSpeechProb: 0.1 }],
      words: [{ word: 'Hi', start: 0, end: 0.4, confidence: 0 }],
    });
  });

  it('takes words from inside the segments, with their probability', () => {
    const words = [{ word: ' Hi', start: 0, end: 0.4, probability: 0.75 }];
    const answer = { text: 'Hi', segments: [{ start: 0, end: 1, text: 'Hi', words }] };
    expect(transcriptIn(answer, CONTEXT)?.words).toEqual([
      { word: 'Hi', start: 0, end: 0.4, confidence: 0.75 },
    ]);
    expect(transcriptIn(answer, { ...CONTEXT, wordTimestamps: false })?.words).toEqual([]);
  });

  it.each([
    ['what is known here', { text: 'a', duration: 3 }, { ...CONTEXT, durationS: 7 }, 7],
    ['duration, also as a text', { text: 'a', duration: '3.5' }, CONTEXT, 3.5],
    ['what was charged', { text: 'a', usage: { type: 'duration', seconds: 4 } }, CONTEXT, 4],
    ['the end of the last segment', { text: 'a', segments: [{ end: 5, text: 'a' }] }, CONTEXT, 5],
  ])('takes the length from %s', (_title, answer, context, durationS) => {
    expect(transcriptIn(answer, context)?.durationS).toBe(durationS);
  });

  it('makes one segment of a text without times, none of an empty one', () => {
    expect(transcriptIn({ text: 'a b' }, { ...CONTEXT, durationS: 2 })?.segments).toMatchObject([
      { start: 0, end: 2, text: 'a b' },
    ]);
    expect(transcriptIn({ text: ' ' }, CONTEXT)).toMatchObject({
      text: '',
      segments: [],
      words: [],
    });
  });

  it('keeps the language that was asked for when none is told', () => {
    expect(transcriptIn({ text: 'a' }, { ...CONTEXT, language: 'de' })?.language).toBe('de');
  });

  it('survives values of other types', () => {
    const answer = {
      text: 'a',
      duration: null,
      segments: [null, { start: 'x', end: {}, text: 4 }],
      words: 'none',
    };
    expect(transcriptIn(answer, CONTEXT)).toMatchObject({
      durationS: 0,
      segments: [{ start: 0, end: 0, text: '' }],
      words: [],
    });
  });

  it.each([undefined, null, 'text', [], {}, { text: 7 }])('is undefined for %j', answer => {
    expect(transcriptIn(answer, CONTEXT)).toBeUndefined();
  });
});

describe('languageTag', () => {
  it.each([
    ['english', 'en'],
    ['German', 'de'],
    ['chinese', 'zh'],
    ['hebrew', 'he'],
    ['indonesian', 'id'],
    ['en', 'en'],
    ['pt-BR', 'pt-BR'],
    ['klingon-ish', 'klingon-ish'],
  ])('of %s is %s', (name, tag) => {
    const answer = { text: 'a', language: name };
    expect(transcriptIn(answer, CONTEXT)?.language).toBe(tag);
  });
});

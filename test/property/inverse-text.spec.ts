import { describe, expect, it } from '@jest/globals';
import { ENGLISH_RULES, englishNormalizer } from '@switchyard/itn-en/english-normalizer.js';
import { rewrite, tokenize } from '@switchyard/itn-en/token.js';
import fc from 'fast-check';

const english = englishNormalizer;

const words = (text: string) => text.trim().split(/\s+/);
const NUMERIC =
  words(`zero one two three five nine ten eleven twelve nineteen twenty thirty ninety hundred thousand to or
  million billion tenth twentieth hundredth thousandth first second third fifth eighties`);
const AROUND_NUMBERS =
  words(`a and the of to at in on by past half quarter point minus negative plus oh o double triple
  january may march dollars dollar cents pounds pence sterling percent per cent degrees celsius kilometers meters miles
  square hour second o'clock am pm p.m. a p m minutes morning tonight until twenty-five`);
const PLAIN = words(
  'we went home and saw nothing but trees while it rained, don’t ask “why” Ah – really? (yes) well',
);

const spoken = fc
  .array(
    fc.tuple(
      fc.constantFrom(...NUMERIC, ...AROUND_NUMBERS, ...PLAIN),
      fc.constantFrom(' ', ' ', ' ', ', ', '-', '. '),
    ),
  )
  .map(parts => parts.flat().join(''));
const plain = fc.array(fc.constantFrom(...PLAIN), { minLength: 1 }).map(parts => parts.join(' '));
const any = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
  spoken,
);

describe('English inverse text normalisation, any text', () => {
  it('never throws', () => {
    fc.assert(fc.property(any, text => typeof english.normalize(text) === 'string'));
  });

  it('leaves its own output as it is', () => {
    const property = fc.property(any, text => {
      const written = english.normalize(text);
      expect(english.normalize(written)).toBe(written);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  it('leaves text without number words as it is, byte for byte', () => {
    fc.assert(
      fc.property(plain, fc.constantFrom(' ', '\n', '\t '), (text, gap) => {
        const spaced = text.replaceAll(' ', gap);
        expect(english.normalize(spaced)).toBe(spaced);
      }),
    );
  });

  it('writes digits only for number words: every other word is still there, in order', () => {
    const numberWords = new Set([...NUMERIC, ...AROUND_NUMBERS]);
    const others = (text: string) =>
      lettersOf(text).filter(word => PLAIN_WORDS.has(word) && !numberWords.has(word));
    fc.assert(
      fc.property(spoken, text => expect(others(english.normalize(text))).toEqual(others(text))),
      { numRuns: 2000 },
    );
  });

  it('writes no digit that no number word stands for', () => {
    const withoutNumbers = fc
      .array(
        fc.constantFrom(
          ...AROUND_NUMBERS.filter(word => !['twenty-five', 'second', 'oh', 'o'].includes(word)),
          ...PLAIN,
        ),
      )
      .map(parts => parts.join(' '));
    fc.assert(
      fc.property(withoutNumbers, text => expect(english.normalize(text)).not.toMatch(/\d/)),
      { numRuns: 1000 },
    );
  });
});

const lettersOf = (text: string) => text.split(/[^\p{L}’']+/u).filter(word => word !== '');
const PLAIN_WORDS = new Set(PLAIN.flatMap(lettersOf));

describe('the work of English inverse text normalisation', () => {
  /** How often rules look at a token: counted, not timed. */
  function looks(text: string) {
    let count = 0;
    const { first } = tokenize(text);
    for (let token = first; token; token = token.following)
      for (const key of ['following', 'next', 'previous'] as const) {
        const neighbour = token[key];
        Object.defineProperty(token, key, { get: () => (count++, neighbour) });
      }
    rewrite(first, ENGLISH_RULES);
    return count;
  }

  it.each([
    'one ',
    'one two one ',
    'oh ',
    'double ',
    'double two ',
    'point ',
    'one point ',
    'point one ',
    'at one point two ',
    'twenty ',
    'nineteen ninety ',
    'a hundred and ',
    'one hundred ',
    'nine thousand ',
    'million ',
    'minus ',
    'plus one ',
    'may the fourth of ',
    'january twenty ',
    'january one one ',
    'nine thirty to ',
    'half past ',
    'one to ',
    'one to one dollars ',
    'one point two or ',
    'the quick brown ',
    'a-',
  ])('grows no faster than the text: %j many times', phrase => {
    const [small, large] = [50, 500].map(times => looks(phrase.repeat(times)));
    expect((large ?? 0) / (small ?? 1)).toBeLessThan(12);
  });
});

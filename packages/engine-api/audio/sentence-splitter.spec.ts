import { describe, expect, it } from '@jest/globals';
import { splitIntoSentences } from './sentence-splitter.js';

describe('splitIntoSentences', () => {
  it.each([
    ['ends at . ! and ?', 'One. Two! Three? Four', ['One.', 'Two!', 'Three?', 'Four']],
    [
      'keeps runs of marks and closing quotes together',
      'Really?! "Yes." He left...',
      ['Really?!', '"Yes."', 'He left...'],
    ],
    [
      'goes on after titles',
      'Dr. Smith met Mrs. Jones. They spoke.',
      ['Dr. Smith met Mrs. Jones.', 'They spoke.'],
    ],
    [
      'goes on after initials',
      'J. R. Tolkien wrote it. Fine.',
      ['J. R. Tolkien wrote it.', 'Fine.'],
    ],
    [
      'goes on after e.g. and i.e.',
      'Fruit, e.g. apples, i.e. food.',
      ['Fruit, e.g. apples, i.e. food.'],
    ],
    ['ends after the word I', 'So do I. And you?', ['So do I.', 'And you?']],
    ['leaves decimals alone', 'It costs 3.50 now. Good.', ['It costs 3.50 now.', 'Good.']],
    ['ends at line ends', 'A title\n\nA text', ['A title', 'A text']],
    ['has nothing to say of white space', ' \n ', []],
  ])('%s', (_title, text, sentences) => {
    expect(splitIntoSentences(text)).toEqual(sentences);
  });

  it('cuts what is longer than 300 characters at a clause, losing no word', () => {
    const text = 'one two three four five, '.repeat(40).trim();
    const pieces = splitIntoSentences(text);
    expect(pieces.every(piece => piece.length <= 300)).toBe(true);
    expect(pieces.slice(0, -1).every(piece => piece.endsWith(','))).toBe(true);
    expect(pieces.join(' ')).toBe(text);
  });

  it('cuts at a space without a clause, and inside a word of 5,000 letters', () => {
    const words = 'word '.repeat(200).trim();
    expect(splitIntoSentences(words).join(' ')).toBe(words);
    expect(splitIntoSentences('x'.repeat(5000)).map(({ length }) => length)).toEqual([
      ...Array<number>(16).fill(300),
      200,
    ]);
  });
});

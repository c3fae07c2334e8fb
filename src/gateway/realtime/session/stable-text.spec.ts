import { describe, expect, it } from '@jest/globals';
import { StableText } from './stable-text.js';

const deltas = (guesses: string[], final: string): string[] => {
  const text = new StableText();
  return [...guesses.map(guess => text.partial(guess)), text.final(final)];
};

describe('deltas of revised guesses', () => {
  it('says a word when two guesses agree on it and another follows', () => {
    expect(deltas(['the', 'the train', 'the train is', 'the train is on'], 'the train is on time')).toEqual([
      '',
      'the',
      ' train',
      ' is',
      ' on time',
    ]);
  });

  it('holds back what changes, and what follows it', () => {
    expect(
      deltas(['a wreck', 'a recognise', 'a recognise speech', 'a recognise speech now'], 'a recognise speech'),
    ).toEqual(['', 'a', ' recognise', ' speech', '']);
  });

  it('sends nothing more when the final text contradicts what was said', () => {
    expect(deltas(['ice cream', 'ice cream for', 'ice cream for all'], 'i scream for all').at(-1)).toBe('');
  });

  it('sends everything at the end without guesses', () => {
    expect(deltas([], 'hello world')).toEqual(['hello world']);
  });

  it('starts over quietly when a new worker guesses from the beginning', () => {
    const text = new StableText();
    text.partial('one two three');
    expect(text.partial('one two three')).toBe('one two');
    expect(text.partial('one')).toBe('');
    expect(text.partial('one two three four')).toBe('');
    expect(text.partial('one two three four')).toBe(' three');
  });

  it('counts characters as words in scripts without spaces', () => {
    expect(deltas(['今日は', '今日はい', '今日はいい'], '今日はいい天気')).toEqual(['', '今日は', 'い', 'い天気']);
  });
});

import { describe, expect, it } from '@jest/globals';
import { TranscriptItems } from './transcript-items.js';

/** Every delta that is not empty. */
const deltas = (guesses: string[], final: string, agreement = 3): string[] => {
  const sent: string[] = [];
  const items = new TranscriptItems(({ type, delta }) => {
    if (type.endsWith('.delta')) sent.push(String(delta));
  });
  items.agreeing(agreement);
  for (const text of guesses) items.receive({ type: 'partial', utterance: 0, text });
  items.receive({
    type: 'final',
    utterance: 0,
    text: final,
    start: 0,
    end: 1,
    words: [],
  });
  return sent;
};
const thrice = (guess: string): string[] => [guess, guess, guess];

describe('deltas of revised guesses', () => {
  it('says a word when three guesses agree on it and another follows', () => {
    const guesses = ['the', 'the train', 'the train is', 'the train is on'];
    expect(deltas(guesses, 'the train is on time')).toEqual(['the', ' train', ' is on time']);
  });

  it('of a recogniser whose guesses are far apart two are enough', () => {
    const guesses = ['the', 'the train is', 'the train is on', 'the train is late today'];
    expect(deltas(guesses, 'the train is late', 2)).toEqual(['the', ' train is', ' late']);
  });

  it('holds back what still changes, and what follows it', () => {
    const guesses = [
      'a wreck a nice',
      'a recognise speech',
      'a recognise speech',
      'a recognise speech now',
    ];
    expect(deltas(guesses, 'a recognise speech')).toEqual(['a', ' recognise speech']);
  });

  it('continues where it fits best when a word that was sent turns out wrong', () => {
    const guesses = [...thrice('the train is on'), ...thrice('the trainers on the right')];
    expect(deltas(guesses, 'the trainers on the right track').join('')).toBe(
      'the train is the right track',
    );
  });

  it('says nothing twice when the final text is shorter than what was said', () => {
    expect(deltas(thrice('one two three four'), 'one two')).toEqual(['one two three']);
  });

  it('sends everything at the end without guesses', () => {
    expect(deltas([], 'hello world')).toEqual(['hello world']);
  });

  it('repeats nothing when a new worker guesses from the beginning', () => {
    const again = ['one', 'one two', 'one two three', ...thrice('one two three four')];
    expect(deltas([...thrice('one two three'), ...again], 'one two three four')).toEqual([
      'one two',
      ' three',
      ' four',
    ]);
  });

  it('counts characters as words in scripts without spaces', () => {
    expect(deltas(thrice('今日はい'), '今日はいい天気')).toEqual(['今日は', 'いい天気']);
  });
});

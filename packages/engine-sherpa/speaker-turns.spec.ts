import { describe, expect, it } from '@jest/globals';
import { bySpeaker, nameSpeakers } from './speaker-turns.js';
import { type HeardSegment } from './transcript.js';

const word = (text: string, start: number, end: number) => ({
  word: text,
  start,
  end,
  confidence: 1,
});
const heard = (...words: ReturnType<typeof word>[]): HeardSegment => ({
  segment: {
    text: words.map(w => w.word).join(' '),
    start: 0,
    end: 4,
    avgLogprob: 0,
    noSpeechProb: 0,
  },
  words,
  language: 'en',
});
const turns = [
  { start: 0, end: 2, speaker: 'A' },
  { start: 2, end: 4, speaker: 'B' },
];

describe('bySpeaker', () => {
  it('cuts a segment between words where the speaker changes', () => {
    const parts = bySpeaker(
      heard(word('yes', 0.5, 1), word('no', 1.9, 2.5), word('why', 3, 3.5)),
      turns,
    );
    expect(
      parts.map(({ segment }) => [segment.speaker, segment.text, segment.start, segment.end]),
    ).toEqual([
      ['A', 'yes', 0.5, 1],
      ['B', 'no why', 1.9, 3.5],
    ]);
  });

  it('gives a segment without words whole to who speaks longest in it', () => {
    const whole = { ...heard(), segment: { ...heard().segment, text: 'all', start: 1.5, end: 4 } };
    expect(bySpeaker(whole, turns).map(({ segment }) => segment.speaker)).toEqual(['B']);
  });

  it('gives a word between two turns to the nearer one, and leaves all as it is where nobody was found', () => {
    const apart = [turns[0]!, { start: 3, end: 4, speaker: 'B' }];
    expect(bySpeaker(heard(word('so', 2.7, 2.9)), apart)[0]!.segment.speaker).toBe('B');
    expect(bySpeaker(heard(word('so', 1, 2)), [])[0]!.segment.speaker).toBeUndefined();
  });
});

describe('nameSpeakers', () => {
  const voice = (...values: number[]) => Float32Array.from(values);

  it('calls unknown speakers A, B, ... in order of appearance', () => {
    expect(nameSpeakers([voice(1, 0), voice(0, 1)], [], 0.5)).toEqual(['A', 'B']);
  });

  it('gives each known voice to the likest speaker, once, and only where it is like enough', () => {
    const known = [
      { name: 'Ann', embedding: voice(0, 1, 0) },
      { name: 'Bob', embedding: voice(0, 0.9, 0.1) },
      { name: 'Cid', embedding: voice(0, 0, 1) },
    ];
    expect(nameSpeakers([voice(1, 0, 0), voice(0, 1, 0)], known, 0.5)).toEqual(['A', 'Ann']);
  });

  it('uses no letter that is a known name', () => {
    expect(
      nameSpeakers([voice(1, 0), voice(0, 1)], [{ name: 'A', embedding: voice(0, 1) }], 0.5),
    ).toEqual(['B', 'A']);
  });
});

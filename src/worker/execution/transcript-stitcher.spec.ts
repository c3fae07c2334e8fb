import { describe, expect, it } from '@jest/globals';
import {
  type RecognizedTranscript,
  type TranscriptSegment,
} from '@switchyard/engine-api/speech-recognizer.js';
import { numberedSegments, TranscriptStitcher } from './transcript-stitcher.js';

/** Words one second apart, from second `from` of the window; a segment for each text. */
function heard(from: number, ...texts: string[]): RecognizedTranscript {
  let at = from;
  const segments = texts.map(text => {
    const start = at;
    at += text.split(' ').length;
    return { start, end: at, text, avgLogprob: -0.2, noSpeechProb: 0 };
  });
  const words = segments.flatMap(({ start, text }) =>
    text
      .split(' ')
      .map((word, n) => ({ word, start: start + n, end: start + n + 1, confidence: 1 })),
  );
  return { text: texts.join(' '), language: 'en', segments, words };
}

const untimed = (transcript: RecognizedTranscript): RecognizedTranscript => ({
  ...transcript,
  words: [],
});

/** Windows of 10 s, told as [shared before, shared after, result]. */
function stitched(...windows: readonly (readonly [number, number, RecognizedTranscript])[]) {
  const told: TranscriptSegment[] = [];
  const stitcher = new TranscriptStitcher({
    temperature: 0.2,
    words: true,
    sink: segment => told.push(segment),
  });
  let startS = 0;
  const toldAfter = windows.map(([sharedBeforeS, sharedAfterS, transcript], index) => {
    stitcher.add({ index, startS, durationS: 10, sharedBeforeS, sharedAfterS }, transcript);
    startS += 10 - sharedAfterS;
    return told.length;
  });
  const whole = stitcher.finish();
  expect(told).toEqual(whole.segments);
  expect(whole.segments.map(({ id }) => id)).toEqual(whole.segments.map((_, id) => id));
  return { ...whole, toldAfter };
}

describe('TranscriptStitcher', () => {
  it('moves times to the whole, numbers segments, and tells each window as soon as it is in', () => {
    const whole = stitched(
      [0, 0, heard(1, 'one two', 'three')],
      [0, 0, heard(0, 'four')],
      [0, 0, heard(2, 'five')],
    );
    expect(whole.text).toBe('one two three four five');
    expect(whole.segments.map(({ start, end }) => [start, end])).toEqual([
      [1, 3],
      [3, 4],
      [10, 11],
      [22, 23],
    ]);
    expect(whole.words.map(({ start }) => start)).toEqual([1, 2, 3, 10, 22]);
    expect([whole.durationS, whole.language, whole.toldAfter]).toEqual([30, 'en', [2, 3, 4]]);
  });

  it('says once what both windows of an overlap heard, and leaves out the halves of cut words', () => {
    const whole = stitched(
      [0, 4, heard(5, 'the train is on tra')],
      [4, 0, heard(0, 'ain is on track five')],
    );
    expect(whole.text).toBe('the train is on track five');
    expect(whole.words.map(({ word }) => word).join(' ')).toBe(whole.text);
    expect(whole.segments.map(({ start, end }) => [start, end])).toEqual([
      [5, 9],
      [9, 11],
    ]);
    expect(whole.toldAfter).toEqual([0, 2]);
  });

  it('does so by the text alone where words have no times', () => {
    const first = untimed(heard(5, 'The train is On, tra'));
    expect(stitched([0, 4, first], [4, 0, untimed(heard(0, 'is on track five.'))]).text).toBe(
      'The train is On, track five.',
    );
  });

  it('splits at the middle of the overlap when nothing is equal, by the times of the words', () => {
    const whole = stitched([0, 4, heard(4, 'a b c d e f')], [4, 0, heard(0, 'w x y z')]);
    // The overlap is 6 to 10: "e" and "f" are after 8, "w" and "x" before.
    expect(whole.text).toBe('a b c d y z');
    expect(whole.words.map(({ start }) => start)).toEqual([4, 5, 6, 7, 8, 9]);
  });

  it('keeps both sides when nothing is equal and nothing has times: no word is lost', () => {
    expect(
      stitched([0, 4, untimed(heard(6, 'alpha'))], [4, 0, untimed(heard(0, 'beta'))]).text,
    ).toBe('alpha beta');
  });

  it('never joins by one short word', () => {
    const whole = stitched(
      [0, 4, untimed(heard(6, 'to be or'))],
      [4, 0, untimed(heard(0, 'or not'))],
    );
    expect(whole.text).toBe('to be or or not');
  });

  it('drops a window that heard nothing new', () => {
    expect(stitched([0, 4, heard(6, 'same words')], [4, 0, heard(0, 'same words')]).text).toBe(
      'same words',
    );
  });

  it('makes a segment of a window whose engine gives text alone, without spaces in scripts that have none', () => {
    const text = (spoken: string): RecognizedTranscript => ({
      text: spoken,
      language: 'zh',
      segments: [],
      words: [],
    });
    const whole = stitched([0, 0, text('你好')], [0, 0, text('世界')]);
    expect(whole.text).toBe('你好世界');
    expect(whole.segments.map(({ start, end }) => [start, end])).toEqual([
      [0, 10],
      [10, 20],
    ]);
  });

  it('takes the language that most of the audio is in', () => {
    const in_ = (language: string): RecognizedTranscript => ({ ...heard(0, 'x'), language });
    expect(stitched([0, 0, in_('de')], [0, 0, in_('fr')], [0, 0, in_('fr')]).language).toBe('fr');
  });

  it('tells what an engine tells early while it is that window’s turn, and everything once', () => {
    const told: string[] = [];
    const sink = ({ text }: TranscriptSegment) => void told.push(text);
    const stitcher = new TranscriptStitcher({ temperature: 0, words: false, sink });
    const place = (index: number) => ({
      index,
      startS: index * 10,
      durationS: 10,
      sharedBeforeS: 0,
      sharedAfterS: 0,
    });
    const [first, second] = [heard(0, 'one', 'two'), heard(0, 'three', 'four')];
    const [early, later] = [stitcher.early(0, 0), stitcher.early(1, 10)];
    later(second.segments[0]!, []);
    early(first.segments[0]!, []);
    expect(told).toEqual(['one']);
    stitcher.add(place(0), first);
    later(second.segments[1]!, []);
    expect(told).toEqual(['one', 'two']);
    stitcher.add(place(1), second);
    expect(told).toEqual(['one', 'two', 'three', 'four']);
    expect(stitcher.finish().segments.map(({ id, start }) => [id, start])).toEqual([
      [0, 0],
      [1, 1],
      [2, 10],
      [3, 11],
    ]);
  });
});

describe('numberedSegments', () => {
  it('numbers the segments from 0 and adds the temperature they were made with', () => {
    const segment = {
      start: 0,
      end: 1,
      text: 'hello',
      avgLogprob: -0.1,
      noSpeechProb: 0.2,
    };
    const transcript = {
      text: 'hello hello',
      language: 'en',
      segments: [segment, segment],
      words: [],
    };
    expect(numberedSegments(transcript, 0.4)).toMatchObject([
      { ...segment, id: 0, temperature: 0.4, tokens: [] },
      { ...segment, id: 1, temperature: 0.4, tokens: [] },
    ]);
  });
});

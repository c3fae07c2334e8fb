import { describe, expect, it } from '@jest/globals';
import { formatSrt, formatVtt, timestamp } from './transcript-body.js';

const segment = (start: number, end: number, text: string) => ({
  id: 0,
  start,
  end,
  text,
  tokens: [],
  temperature: 0,
  avgLogprob: 0,
  noSpeechProb: 0,
});
const segments = [
  segment(0, 3.3199, ' The beach was popular.'),
  segment(3661.5, 3662, 'People --> sand.'),
];

describe('timestamp', () => {
  it.each([
    [0, '00:00:00.000'],
    [1.9996, '00:00:02.000'],
    [59.9999, '00:01:00.000'],
    [3599.9999, '01:00:00.000'],
    [360_000.123, '100:00:00.123'],
    [-0.01, '00:00:00.000'],
  ])('%d s is %s', (seconds, text) => {
    expect(timestamp(seconds, '.')).toBe(text);
  });
});

describe('srt', () => {
  it('numbers cues from 1, with commas, each followed by an empty line', () => {
    expect(formatSrt({ segments })).toBe(
      '1\n00:00:00,000 --> 00:00:03,320\nThe beach was popular.\n\n' +
        '2\n01:01:01,500 --> 01:01:02,000\nPeople -> sand.\n\n',
    );
  });

  it('of silence is empty', () => {
    expect(formatSrt({ segments: [] })).toBe('');
  });
});

describe('vtt', () => {
  it('has a header, points, and no arrow in its text', () => {
    expect(formatVtt({ segments })).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:03.320\nThe beach was popular.\n\n' +
        '01:01:01.500 --> 01:01:02.000\nPeople -> sand.\n\n',
    );
  });

  it('of silence is its header', () => {
    expect(formatVtt({ segments: [] })).toBe('WEBVTT\n\n');
  });
});

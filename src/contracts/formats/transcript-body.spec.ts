import { describe, expect, it } from '@jest/globals';
import { languageName } from './language-name.js';
import { transcriptBody, type TranscriptBodyOptions } from './transcript-body.js';
import { transcriptEvents } from './transcript-events.js';
import { type Transcript } from './transcript.js';

const numbers = {
  tokens: [50364, 440],
  temperature: 0,
  avgLogprob: -0.286,
  compressionRatio: 1.25,
  noSpeechProb: 0.01,
};
const transcript: Transcript = {
  text: 'the beach was popular people swam',
  language: 'en',
  durationS: 8.47,
  segments: [
    { id: 0, start: 0, end: 3.32, text: ' the beach was popular', ...numbers },
    { id: 1, start: 31, end: 33, text: ' people swam', ...numbers },
  ],
  words: [{ word: 'the', start: 0, end: 0.24, confidence: 0.9 }],
};
const options: TranscriptBodyOptions = {
  format: 'json',
  stream: false,
  task: 'transcribe',
  granularities: ['segment'],
};
const bodyOf = (changes: Partial<TranscriptBodyOptions>) => transcriptBody(transcript, { ...options, ...changes }).body;

describe('json', () => {
  it('is text and whole seconds of usage, rounded up', () => {
    expect(bodyOf({})).toBe('{"text":"the beach was popular people swam","usage":{"type":"duration","seconds":9}}');
  });
});

describe('text', () => {
  it('ends in one newline', () => {
    expect(bodyOf({ format: 'text' })).toBe('the beach was popular people swam\n');
  });
});

describe('verbose_json', () => {
  it('has the fields of OpenAI, in their order', () => {
    const segment = (id: number, seek: number, start: number, end: number, text: string) =>
      `{"id":${id},"seek":${seek},"start":${start},"end":${end},"text":"${text}","tokens":[50364,440],"temperature":0,` +
      '"avg_logprob":-0.286,"compression_ratio":1.25,"no_speech_prob":0.01}';
    expect(bodyOf({ format: 'verbose_json', task: 'translate' })).toBe(
      '{"task":"translate","language":"english","duration":8.47,"text":"the beach was popular people swam","segments":[' +
        `${segment(0, 0, 0, 3.32, ' the beach was popular')},${segment(1, 3000, 31, 33, ' people swam')}` +
        '],"usage":{"type":"duration","seconds":9}}',
    );
  });

  it('has words instead of segments when only words were asked for', () => {
    const answer = JSON.parse(bodyOf({ format: 'verbose_json', granularities: ['word'] })) as object;
    expect(Object.keys(answer)).toEqual(['task', 'language', 'duration', 'text', 'words', 'usage']);
    expect(answer).toMatchObject({ words: [{ word: 'the', start: 0, end: 0.24 }] });
  });
});

describe('languageName', () => {
  it.each([
    ['en', 'english'],
    ['en-GB', 'english'],
    ['de', 'german'],
    ['haw', 'hawaiian'],
    ['', ''],
    ['english', 'english'],
    ['zzz', 'zzz'],
  ])('%j is %j', (tag, name) => {
    expect(languageName(tag)).toBe(name);
  });
});

describe('the event stream', () => {
  const deltasOf = (changes: Partial<Transcript>) =>
    transcriptEvents({ ...transcript, ...changes }).flatMap(event => ('delta' in event ? [event.delta] : []));

  it('has a delta per segment; together they are the text', () => {
    expect(deltasOf({})).toEqual(['the beach was popular', ' people swam']);
  });

  it('is one delta when the segments are not the text', () => {
    expect(deltasOf({ text: 'The Beach. People.' })).toEqual(['The Beach. People.']);
    expect(deltasOf({ segments: [] })).toEqual([transcript.text]);
  });

  it('of silence has no delta, and still exactly one done and [DONE]', () => {
    const silence = { ...transcript, text: '', segments: [], words: [] };
    expect(transcriptBody(silence, { ...options, stream: true }).body).toBe(
      'data: {"type":"transcript.text.done","text":"","usage":{"type":"duration","seconds":9}}\n\ndata: [DONE]\n\n',
    );
  });
});

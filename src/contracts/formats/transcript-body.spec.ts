import { deflateSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { languageName } from './language-name.js';
import { formatSrt, formatVtt, timestamp } from './subtitles.js';
import { transcriptBody, type TranscriptBodyOptions, compressionRatio } from './transcript-body.js';
import { transcriptEvents } from './transcript-events.js';

const numbers = { tokens: [50364, 440], temperature: 0, avgLogprob: -0.286, noSpeechProb: 0.01 };
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
const bodyOf = (changes: Partial<TranscriptBodyOptions>) =>
  transcriptBody(transcript, { ...options, ...changes }).body;

describe('json', () => {
  it('is text and whole seconds of usage, rounded up', () => {
    expect(bodyOf({})).toBe(
      '{"text":"the beach was popular people swam","usage":{"type":"duration","seconds":9}}',
    );
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
      `{"id":${id},"seek":${seek},"start":${start},"end":${end},"text":"${text}","tokens":[50364,440],` +
      `"temperature":0,"avg_logprob":-0.286,"compression_ratio":${compressionRatio(text)},"no_speech_prob":0.01}`;
    expect(bodyOf({ format: 'verbose_json', task: 'translate' })).toBe(
      '{"task":"translate","language":"english","duration":8.47,"text":"the beach was popular people swam",' +
        `"segments":[${segment(0, 0, 0, 3.32, ' the beach was popular')},${segment(1, 3000, 31, 33, ' people swam')}` +
        '],"usage":{"type":"duration","seconds":9}}',
    );
  });

  it('has words instead of segments when only words were asked for', () => {
    const answer = JSON.parse(
      bodyOf({ format: 'verbose_json', granularities: ['word'] }),
    ) as object;
    expect(Object.keys(answer)).toEqual(['task', 'language', 'duration', 'text', 'words', 'usage']);
    expect(answer).toMatchObject({ words: [{ word: 'the', start: 0, end: 0.24 }] });
  });
});

const tokens = ['the', ' beach', ' was', ' popular', ' people', ' sw', 'am'].map(token => ({
  token,
  logprob: -0.5,
  bytes: Buffer.from(token),
}));

describe('log probabilities', () => {
  it('are in json after the text, as token, logprob and bytes', () => {
    const heard = {
      ...transcript,
      text: 'hé',
      logprobs: [{ token: 'hé', logprob: -0.25, bytes: Buffer.from('hé') }],
    };
    expect(transcriptBody(heard, options).body).toBe(
      '{"text":"hé","logprobs":[{"token":"hé","logprob":-0.25,"bytes":[104,195,169]}],' +
        '"usage":{"type":"duration","seconds":9}}',
    );
  });

  it('are in each delta for its own tokens, and all in done', () => {
    const events = transcriptEvents({ ...transcript, logprobs: tokens });
    expect(
      events.map(event => ('logprobs' in event ? event.logprobs?.map(({ token }) => token) : [])),
    ).toEqual([
      ['the', ' beach', ' was', ' popular'],
      [' people', ' sw', 'am'],
      tokens.map(({ token }) => token),
    ]);
  });

  it('that spell another text, as after inverse text normalisation, come with one delta', () => {
    const events = transcriptEvents({
      ...transcript,
      text: 'the beach was popular 2 people swam',
      logprobs: tokens,
    });
    expect(events).toHaveLength(2);
    expect(events[0]).toMatchObject({ logprobs: tokens.map(({ token }) => ({ token })) });
  });
});

describe('diarized_json', () => {
  const [first, second] = transcript.segments;
  const told: Transcript = {
    ...transcript,
    segments: [
      { ...first!, speaker: 'Ada' },
      { ...second!, speaker: 'A' },
    ],
  };
  const segments = [
    {
      type: 'transcript.text.segment',
      id: 'seg_001',
      start: 0,
      end: 3.32,
      text: 'the beach was popular',
      speaker: 'Ada',
    },
    {
      type: 'transcript.text.segment',
      id: 'seg_002',
      start: 31,
      end: 33,
      text: 'people swam',
      speaker: 'A',
    },
  ];

  it('has the fields of OpenAI, in their order', () => {
    expect(transcriptBody(told, { ...options, format: 'diarized_json' }).body).toBe(
      `{"task":"transcribe","duration":8.47,"text":"the beach was popular people swam",` +
        `"segments":${JSON.stringify(segments)},"usage":{"type":"duration","seconds":9}}`,
    );
  });

  it('streams each delta with the id of the segment that follows it', () => {
    const { body } = transcriptBody(told, { ...options, format: 'diarized_json', stream: true });
    const events = body.split('\n\n').slice(0, -2);
    expect(events.map(event => JSON.parse(event.slice('data: '.length)) as unknown)).toEqual([
      { type: 'transcript.text.delta', delta: 'the beach was popular', segment_id: 'seg_001' },
      segments[0],
      { type: 'transcript.text.delta', delta: ' people swam', segment_id: 'seg_002' },
      segments[1],
      {
        type: 'transcript.text.done',
        text: transcript.text,
        usage: {
          type: 'tokens',
          input_tokens: 85,
          output_tokens: 9,
          total_tokens: 94,
          input_token_details: { audio_tokens: 85, text_tokens: 0 },
        },
      },
    ]);
  });

  it('keeps its segments where their texts are not the text', () => {
    const types = transcriptEvents({ ...told, text: 'People. The Beach.' }, { diarized: true }).map(
      ({ type }) => type,
    );
    expect(types).toEqual([
      'transcript.text.delta',
      'transcript.text.segment',
      'transcript.text.segment',
      'transcript.text.done',
    ]);
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
    transcriptEvents({ ...transcript, ...changes }).flatMap(event =>
      'delta' in event ? [event.delta] : [],
    );

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
      'data: {"type":"transcript.text.done","text":"","usage":{"type":"tokens","input_tokens":85,"output_tokens":0,' +
        '"total_tokens":85,"input_token_details":{"audio_tokens":85,"text_tokens":0}}}\n\ndata: [DONE]\n\n',
    );
  });
});

describe('compressionRatio', () => {
  it('rises with repetition and is 0 for nothing', () => {
    expect(compressionRatio('')).toBe(0);
    expect(compressionRatio('the quick brown fox')).toBeLessThan(1.2);
    expect(compressionRatio('thank you '.repeat(50))).toBeGreaterThan(10);
  });

  it('is what plain zlib gives, as in the Whisper of OpenAI, for short texts and long ones', () => {
    for (const sentence of [
      'Grüße aus dem Süden, ',
      'you are ',
      Array.from({ length: 500 }, (_, n) => n * n).join(' '),
    ]) {
      for (const length of [1, 10, 250, 1200, 1999, 2000, 2001, 9000]) {
        const bytes = Buffer.from(sentence.repeat(length).slice(0, length));
        expect(compressionRatio(String(bytes))).toBe(bytes.length / deflateSync(bytes).length);
      }
    }
  });
});

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

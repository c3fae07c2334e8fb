import { describe, expect, it } from '@jest/globals';
import { CodedError } from '@switchyard/engine-api/coded-error.js';
import { readQueueJob } from './job.codec.js';

const place = { jobId: 'open.r1', timestamp: 5000, model: 'alpha' };
const smallest = { v: 1, kind: 'transcription', audio: { blob: 'plane/audio/1' } };

const problem = (data: unknown) => {
  try {
    readQueueJob(data, place);
  } catch (error) {
    if (error instanceof CodedError) return error.message;
    throw error;
  }
  return 'none';
};

describe('readQueueJob', () => {
  it('fills in every default of the smallest job', () => {
    expect(readQueueJob(smallest, place)).toEqual({
      v: 1,
      id: 'open.r1',
      kind: 'transcription',
      model: 'alpha',
      priority: 'batch',
      acceptedMs: 5000,
      timeoutMs: 600_000,
      audio: { blob: 'plane/audio/1' },
      options: {
        filename: 'audio',
        language: '',
        prompt: '',
        temperature: 0,
        wordTimestamps: false,
        logprobs: false,
        diarize: false,
        knownSpeakers: [],
        hotWords: [],
      },
    });
  });

  it('keeps everything that a full job says', () => {
    const job = {
      v: 1,
      id: 'r1',
      kind: 'translation',
      model: 'alpha',
      priority: 'realtime',
      tenant: 'acme',
      acceptedMs: 1,
      deadlineMs: 2,
      timeoutMs: 3,
      fingerprint: 'ab',
      audio: { url: 'https://example.org/a.mp3' },
      options: {
        filename: 'a.mp3',
        durationS: 1.5,
        language: 'de',
        prompt: 'p',
        temperature: 0.5,
        wordTimestamps: true,
        chunking: { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 200 },
        logprobs: true,
        diarize: true,
        knownSpeakers: [{ name: 'Ann', blob: 'plane/voice/1' }],
        hotWords: ['x'],
      },
      callback: { url: 'https://example.org/hook', secretName: 'hook' },
    };
    expect(readQueueJob(structuredClone(job), place)).toEqual(job);
  });

  it.each([
    ['speech', { text: 'hi', voice: 'amy' }, { text: 'hi', voice: 'amy', speed: 1, format: 'mp3' }],
    ['embedding', { body: '{"input":"a"}', inputs: 1 }, { body: '{"input":"a"}', inputs: 1 }],
    [
      'embedding',
      { body: '{}', inputs: 1, form: 'rerank' },
      { body: '{}', inputs: 1, form: 'rerank' },
    ],
  ])('reads the options of %s', (kind, options, read) => {
    expect(readQueueJob({ v: 1, kind, options }, place)).toMatchObject({ kind, options: read });
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['1', 1],
    ['"x"', 'x'],
    ['true', true],
    ['[1]', [1]],
    ['nothing', undefined],
  ])('names %s as no object', (shown, data) => {
    expect(problem(data)).toBe(`\`data\` must be an object; got ${shown}.`);
  });

  it.each<[unknown, string]>([
    [{}, '`data.v` is required.'],
    [{ ...smallest, v: 2 }, '`data.v` must be one of 1; got 2.'],
    [
      { ...smallest, kind: 'chat' },
      '`data.kind` must be one of transcription, translation, speech, embedding; got "chat".',
    ],
    [
      { ...smallest, model: 'beta' },
      '`data.model` must be alpha, the model of this queue; got "beta".',
    ],
    [{ ...smallest, priority: 0 }, '`data.priority` must be one of realtime, batch; got 0.'],
    [{ v: 1, kind: 'transcription' }, '`data.audio` is required.'],
    [{ ...smallest, audio: {} }, '`data.audio` must have exactly one of blob and url; got {}.'],
    [{ ...smallest, audio: 'UklGRg==' }, '`data.audio` must be an object; got "UklGRg==".'],
    [{ ...smallest, sound: 1 }, 'Unknown parameter: `data.sound`.'],
    [{ ...smallest, options: { beam: 5 } }, 'Unknown parameter: `data.options.beam`.'],
    [
      { ...smallest, options: { hotWords: [1] } },
      '`data.options.hotWords` must be a list of strings; got [1].',
    ],
    [{ v: 1, kind: 'speech', options: { text: 'hi' } }, '`data.options.voice` is required.'],
    [{ ...smallest, callback: {} }, '`data.callback.url` is required.'],
  ])('says what is wrong with %j', (data, message) => {
    expect(problem(data)).toBe(message);
  });
});

import { describe, expect, it } from '@jest/globals';
import { CodedError } from '@switchyard/engine-api/coded-error.js';
import {
  decodeJobError,
  decodeJobTranscript,
  encodeJobError,
  encodeJobTranscript,
  readJobResult,
} from './result.codec.js';

const phases = { workerId: 'w', takenMs: 1, batchWaitMs: 0, totalMs: 2, attempts: 1 };
const transcript = { text: 'hi', language: 'en', durationS: 1, segments: [], words: [] };

const isKnown = (code: string): code is 'queue_timeout' => code === 'queue_timeout';

describe('JobResult', () => {
  it('carries a transcript through JSON, the bytes of its tokens included', () => {
    const spoken = {
      ...transcript,
      logprobs: [{ token: 'hi', logprob: -0.1, bytes: Buffer.from('hi') }],
    };
    const wire = JSON.parse(JSON.stringify(encodeJobTranscript(spoken))) as ReturnType<
      typeof encodeJobTranscript
    >;
    expect(decodeJobTranscript(wire)).toEqual({
      ...transcript,
      logprobs: [{ token: 'hi', logprob: -0.1, bytes: Uint8Array.from([104, 105]) }],
    });
    expect(decodeJobTranscript(encodeJobTranscript(transcript))).toEqual(transcript);
  });

  it('carries an error with its field and its time to come back', () => {
    const details = { param: 'file', foreignCode: 'too_loud', retryAfterMs: 7 };
    const error = new CodedError('queue_timeout', 'too late', details);
    const wire = JSON.parse(JSON.stringify(encodeJobError(error))) as ReturnType<
      typeof encodeJobError
    >;
    expect(decodeJobError(wire, isKnown)).toMatchObject({
      code: 'queue_timeout',
      message: 'too late',
      ...details,
    });
  });

  it('reports a defect and an unknown code as engine_failed', () => {
    expect(encodeJobError(new TypeError('x is not a function'))).toEqual({
      code: 'engine_failed',
      message: 'The engine failed on this input.',
    });
    expect(decodeJobError({ code: 'from_the_future', message: 'm' }, isKnown).code).toBe(
      'engine_failed',
    );
  });

  it.each<[unknown, boolean]>([
    [{ v: 1, outcome: 'cancelled', phases }, true],
    [{ v: 1, outcome: 'failed', phases, error: { code: 'invalid_audio', message: 'm' } }, true],
    [{ v: 2, outcome: 'cancelled', phases }, false],
    [{ v: 1, outcome: 'vanished', phases }, false],
    [{ v: 1, outcome: 'cancelled' }, false],
    [null, false],
    ['done', false],
    [[1], false],
  ])('reads %j: %s', (value, readable) => {
    expect(readJobResult(value) !== undefined).toBe(readable);
  });
});

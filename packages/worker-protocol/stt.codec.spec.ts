import { describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { Priority } from './generated/switchyard/v1/common.js';
import { TranscribeFileRequest } from './generated/switchyard/v1/stt.js';
import {
  decodeTranscribeCall,
  decodeTranscript,
  encodeTranscribeCall,
  encodeTranscript,
  speechToTextDefinition,
  type TranscribeCallFields,
} from './stt.codec.js';

const call: TranscribeCallFields = {
  requestId: 'r-1',
  priority: RequestPriority.BATCH,
  group: { id: 'g-1', size: 8 },
  task: 'translate',
  audio: Buffer.from('RIFF....'),
  filename: 'naïve café.wav',
  language: 'en',
  prompt: 'Switchyard',
  temperature: 0.4,
  wordTimestamps: true,
  logprobs: true,
  diarize: true,
  draft: true,
  knownSpeakers: [{ name: 'agent', reference: Buffer.from('RIFF') }],
  hotWords: ['Switchyard'],
  chunking: { threshold: 0.5, prefixPaddingMs: 300, silenceDurationMs: 200 },
};

const { requestSerialize, requestDeserialize, responseSerialize, responseDeserialize } =
  speechToTextDefinition.transcribeFile;

describe('numbers that a worker reports', () => {
  it('are 0 where they are not finite, or negative; log probabilities may be negative', () => {
    const times = {
      prepMs: NaN,
      readyWaitMs: -1,
      deviceMs: Infinity,
      batchSize: 1,
      batchId: 'b',
      shareMs: -2,
    };
    const segment = {
      id: 0,
      start: -1,
      end: NaN,
      text: 'a',
      tokens: [],
      temperature: 0,
      noSpeechProb: 0,
    };
    const transcript = {
      text: 'a',
      language: 'en',
      durationS: NaN,
      words: [{ word: 'a', start: 0, end: -3, confidence: 1 }],
      segments: [{ ...segment, avgLogprob: -0.5 }],
      logprobs: [{ token: 'a', logprob: -Infinity, bytes: Buffer.from('a') }],
    };
    const answer = decodeTranscript(
      responseDeserialize(responseSerialize(encodeTranscript(transcript, times))),
    );
    expect(answer.execution).toEqual({
      prepMs: 0,
      readyWaitMs: 0,
      deviceMs: 0,
      batchSize: 1,
      batchId: 'b',
    });
    expect(answer.transcript).toMatchObject({
      durationS: 0,
      segments: [{ start: 0, end: 0, avgLogprob: -0.5 }],
      words: [{ end: 0 }],
      logprobs: [{ logprob: 0 }],
    });
  });
});

describe('TranscribeFile on the wire', () => {
  it('carries every field of a call there and back', () => {
    expect(
      decodeTranscribeCall(requestDeserialize(requestSerialize(encodeTranscribeCall(call)))),
    ).toEqual(call);
  });

  it('carries a URL in place of the audio', () => {
    const byUrl = { ...call, audio: { url: 'https://example.com/a.wav?token=1' } };
    const received = requestDeserialize(requestSerialize(encodeTranscribeCall(byUrl)));
    expect(received.audio).toHaveLength(0);
    expect(decodeTranscribeCall(received)).toEqual(byUrl);
  });

  it.each([RequestPriority.REALTIME, RequestPriority.BATCH])('keeps priority %i', priority => {
    const sent = requestSerialize(encodeTranscribeCall({ ...call, priority }));
    expect(decodeTranscribeCall(requestDeserialize(sent)).priority).toBe(priority);
  });

  it('is the same message that generated code reads and writes', () => {
    const message = encodeTranscribeCall(call);
    expect(TranscribeFileRequest.decode(requestSerialize(message))).toEqual(message);
    expect(requestDeserialize(Buffer.from(TranscribeFileRequest.encode(message).finish()))).toEqual(
      message,
    );
  });

  it('reads 8 MiB of audio as a view of the received message, without a copy', () => {
    const audio = Buffer.alloc(8 * 1024 * 1024, 7);
    const wire = requestSerialize(encodeTranscribeCall({ ...call, audio }));
    const received = requestDeserialize(wire).audio;
    expect(received.equals(audio)).toBe(true);
    expect(received.buffer).toBe(wire.buffer);
  });

  it('reads empty audio as 0 bytes', () => {
    const wire = requestSerialize(encodeTranscribeCall({ ...call, audio: Buffer.alloc(0) }));
    expect(requestDeserialize(wire).audio).toHaveLength(0);
  });

  it('sends aged BATCH as REALTIME with its share: correct for a worker without aging; ours reads aged BATCH', () => {
    const aged = {
      ...call,
      priority: RequestPriority.BATCH,
      group: { id: 'g', size: 1, agingShare: 0.25 },
    };
    const message = encodeTranscribeCall(aged);
    expect([message.priority, message.group?.agingShare]).toEqual([Priority.REALTIME, 0.25]);
    expect(decodeTranscribeCall(requestDeserialize(requestSerialize(message)))).toMatchObject({
      priority: RequestPriority.BATCH,
      group: { id: 'g', size: 1, agingShare: 0.25 },
    });
    const beyond = {
      ...message,
      group: { id: 'g', size: 1, agingShare: 7, timeLimitMs: 0, firstOutputMs: 0 },
    };
    expect(decodeTranscribeCall(beyond).group.agingShare).toBe(1);
  });

  it('takes a call without a group as a group of 1', () => {
    const { group: _, ...message } = encodeTranscribeCall(call);
    expect(decodeTranscribeCall(requestDeserialize(requestSerialize(message))).group).toEqual({
      id: 'r-1',
      size: 1,
    });
  });

  it('refuses a message that ends inside the audio', () => {
    const wire = requestSerialize(encodeTranscribeCall(call));
    expect(() => requestDeserialize(wire.subarray(0, wire.length - 3))).toThrow(RangeError);
  });

  it('carries an answer with segments, words and execution there and back', () => {
    const transcript = {
      text: 'go forward ten meters',
      language: 'en',
      durationS: 1.25,
      segments: [
        {
          id: 0,
          start: 0,
          end: 1.2,
          text: 'go forward ten meters',
          tokens: [1, 70_000],
          temperature: 0,
          avgLogprob: -0.25,
          noSpeechProb: 0.01,
        },
      ],
      words: [{ word: 'go', start: 0.1, end: 0.3, confidence: 0.875 }],
    };
    const execution = {
      prepMs: 4.5,
      readyWaitMs: 1,
      deviceMs: 20,
      batchSize: 3,
      batchId: 'b-1',
    };
    const wire = responseSerialize(encodeTranscript(transcript, execution));
    expect(decodeTranscript(responseDeserialize(wire))).toEqual({
      kind: 'transcript',
      transcript,
      execution,
    });
  });

  it('takes an answer without an execution as computed alone', () => {
    const message = encodeTranscript(
      { text: '', language: '', durationS: 0, segments: [], words: [] },
      { prepMs: 0, readyWaitMs: 0, deviceMs: 0, batchSize: 0, batchId: '' },
    );
    const { execution: _, ...bare } = message;
    expect(decodeTranscript(bare).execution.batchSize).toBe(1);
  });
});

import { describe, expect, it } from '@jest/globals';
import { answerHeaders } from './answer-headers.js';

const execution = {
  prepMs: 1,
  readyWaitMs: 2,
  deviceMs: 30,
  batchSize: 3,
  batchId: 'g',
  audioSeconds: 0,
};

describe('headers of an answer', () => {
  it('say where the time went, in one header for browsers and one for each phase', () => {
    const phases = { queueWaitMs: 4, batchWaitMs: 0.126, grpcMs: 40, totalMs: 45.5 };
    expect(answerHeaders('m', { phases, execution, attempts: 2, ttftMs: 7 })).toEqual({
      'x-switchyard-queue-ms': '4.00',
      'x-switchyard-batch-wait-ms': '0.13',
      'x-switchyard-grpc-ms': '40.00',
      'x-switchyard-ttft-ms': '7.00',
      'x-switchyard-prep-ms': '1.00',
      'x-switchyard-ready-ms': '2.00',
      'x-switchyard-device-ms': '30.00',
      'x-switchyard-device-share-ms': '10.00',
      'x-switchyard-batch-size': '3',
      'x-switchyard-attempts': '2',
      'x-switchyard-model': 'm',
      'server-timing':
        'queue;dur=4.00, batch;dur=0.13, grpc;dur=40.00, ttft;dur=7.00, prep;dur=1.00, ' +
        'ready;dur=2.00, device;dur=30.00, total;dur=45.50, share;dur=10.00',
    });
  });

  it('leave out what a request did not reach', () => {
    expect(answerHeaders('m', { phases: {} })).toEqual({ 'x-switchyard-model': 'm' });
    const usage = { promptTokens: 0, completionTokens: 5 };
    expect(answerHeaders('m', { phases: { queueWaitMs: 0 }, usage })).toEqual({
      'server-timing': 'queue;dur=0.00',
      'x-switchyard-queue-ms': '0.00',
      'x-switchyard-prompt-tokens': '0',
      'x-switchyard-completion-tokens': '5',
      'x-switchyard-model': 'm',
    });
  });

  it('name what was ignored, each once, 32 names at most, and how many more there are', () => {
    const ignored = (names: readonly string[]) =>
      answerHeaders('m', { phases: {} }, names)['x-switchyard-ignored'];
    expect(ignored([])).toBeUndefined();
    expect(ignored(['a', 'b', 'a'])).toBe('a, b');
    const names = Array.from({ length: 34 }, (_, at) => `f${at}`);
    expect(ignored(names.slice(0, 32))).toBe(names.slice(0, 32).join(', '));
    expect(ignored(names)).toBe(`${names.slice(0, 32).join(', ')}, +2`);
  });
});

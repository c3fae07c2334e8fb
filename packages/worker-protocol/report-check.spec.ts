import { describe, expect, it } from '@jest/globals';
import { type WorkerHealthReport } from './health.codec.js';
import { reportProblem } from './report-check.js';

const expected = { id: 'm', kind: 'stt' } as const;
const REPORT: WorkerHealthReport = {
  state: 'ready',
  model: 'm',
  kind: 'stt',
  engine: 'my-own',
  device: 'cuda:0',
  revision: '7',
  maxBatch: 8,
  maxConcurrent: 1,
  streams: 0,
  capabilities: [],
  languages: [],
  inFlight: 0,
  maxMessageBytes: 4096,
};
const problemOf = (lie: Partial<WorkerHealthReport>) =>
  reportProblem({ ...REPORT, ...lie }, expected, 4096);

describe('reportProblem', () => {
  it.each<[string, Partial<WorkerHealthReport>, string]>([
    ['another model', { model: 'x' }, 'its Health reports model "x"; it must be "m"'],
    ['no model', { model: '' }, 'its Health reports model ""; it must be "m"'],
    ['another kind', { kind: 'tts' }, 'its Health reports kind "tts"; it must be "stt"'],
    [
      'groups of none',
      { maxBatch: 0 },
      'its Health reports max_batch 0; it must be from 1 to 4096',
    ],
    [
      'no engine call at a time',
      { maxConcurrent: 0 },
      'its Health reports max_concurrent 0; it must be from 1 to 4096',
    ],
    [
      'four billion lanes',
      { maxConcurrent: 4e9 },
      'its Health reports max_concurrent 4000000000; it must be from 1 to 4096',
    ],
    [
      'more slots than any device has',
      { maxBatch: 4096, maxConcurrent: 4096 },
      'its Health reports max_batch × (max_concurrent + 1) 16781312; it must be at most 65536',
    ],
    [
      'as many streams',
      { streams: 1e6 },
      'its Health reports streams 1000000; it must be from 0 to 65536',
    ],
    [
      'small messages',
      { maxMessageBytes: 1000 },
      'its Health reports max_message_bytes 1000; it must be at least 4096',
    ],
    [
      'a novel',
      { revision: 'x'.repeat(2000) },
      'its Health reports revision a text of 2000 characters; it must be at most 1024',
    ],
  ])('names field, value and range of a worker that reports %s', (_, lie, problem) => {
    expect(problemOf(lie)).toBe(problem);
  });

  it('takes any engine, and numbers that do not hold yet while the engine loads', () => {
    expect(problemOf({ engine: 'written-yesterday' })).toBeUndefined();
    expect(problemOf({ state: 'starting', maxBatch: 0, maxMessageBytes: 0 })).toBeUndefined();
    expect(problemOf({ state: 'draining', maxBatch: 0 })).toBeUndefined();
  });
});

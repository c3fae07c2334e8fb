import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type FileStore } from '../../platform/database/file-store.js';
import { type JobTraces } from '../observe/job-traces.js';
import { type JobMetrics } from '../observe/job.metrics.js';
import { type JobClaim, ResultFiles } from './result-files.js';

beforeEach(() => {
  jest.useFakeTimers();
  // Also the `setTimeout` that was imported from `node:timers/promises`.
  syncBuiltinESMExports();
});
afterEach(() => {
  jest.useRealTimers();
  syncBuiltinESMExports();
});

it.each([
  [0, ['success'], true],
  [3, ['retry', 'retry', 'retry', 'success'], true],
  [4, ['retry', 'retry', 'retry', 'exhausted'], false],
])(
  'a file whose store fails %d times is written again, counted as %j',
  async (failures, counts, isSaved) => {
    let calls = 0;
    const write = () =>
      ++calls <= failures ? Promise.reject(new Error('away')) : Promise.resolve(3);
    const files = {
      find: () => Promise.resolve(undefined),
      createFor: () => Promise.resolve(true),
    };
    const counted: string[] = [];
    const results = new ResultFiles(
      settingsFrom({}),
      files as unknown as FileStore,
      { write } as unknown as BlobStore,
      {
        stored: (what: string, how: string) => counted.push(what === 'store' ? how : what),
      } as unknown as JobMetrics,
      { step: (_: string, __: string, work: () => unknown) => work() } as unknown as JobTraces,
    );
    const claim = { job: { id: 'batch_1', tenant: 't' }, epoch: 1 } as JobClaim;
    const saved = results
      .save(claim, 'a.jsonl', () => Readable.from([]))
      .then(
        () => true,
        () => false,
      );
    await jest.advanceTimersByTimeAsync(10_000);
    expect([await saved, counted]).toEqual([isSaved, counts]);
  },
);

import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { useFakeTimers, useRealTimers } from '../../../test/support/fake-timers.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type StoredFile } from '../../core/jobs/job.ports.js';
import { timeOrderedId } from '../../platform/clock/time-ordered-id.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type FileStore } from '../../platform/database/file-store.js';
import { fileBlobKey, readWhole } from '../../platform/storage/blob-keys.js';
import { FsBlobStore } from '../../platform/storage/fs-blob-store.js';
import { LeaseLost } from '../lease/job-lease.js';
import { type JobTraces } from '../observe/job-traces.js';
import { type JobMetrics } from '../observe/job.metrics.js';
import { type ClaimedJob } from './claimed-job.js';
import { type JobClaim, ResultFiles } from './result-files.js';
import { ResultLog } from './result-log.js';

beforeEach(useFakeTimers);
afterEach(() => {
  useRealTimers();
  jest.restoreAllMocks();
});

it.each([
  [0, ['success'], true],
  [3, ['retry', 'retry', 'retry', 'success'], true],
  [4, ['retry', 'retry', 'retry', 'exhausted'], false],
])(
  'a file whose store fails %d times is written again, counted as %j',
  async (failures, counts, isSaved) => {
    const { files, save, counted } = await harness();
    const write = jest.spyOn(files, 'write').mockResolvedValue(3);
    for (let call = 0; call < failures; call++) write.mockRejectedValueOnce(new Error('away'));
    const saved = save().then(
      () => true,
      () => false,
    );
    await jest.advanceTimersByTimeAsync(10_000);
    expect([await saved, counted]).toEqual([isSaved, counts]);
  },
);

it('a file is written again after pauses that double up to 2 s', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  const { files, save } = await harness();
  const startMs = Date.now();
  const times: number[] = [];
  jest.spyOn(files, 'write').mockImplementation(() => {
    times.push(Date.now() - startMs);
    return Promise.reject(new Error('away'));
  });
  const saved = save().catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(10_000);
  expect([await saved, times]).toEqual([new Error('away'), [0, 500, 1500, 3500]]);
});

const DAY_MS = 86_400_000;

/** The stores of result files, with the rows that they have. */
async function harness(job: object = {}, isLost = false) {
  const blobs = new FsBlobStore(temporaryFolder());
  const rows = new Map<string, StoredFile>();
  const removals: number[] = [];
  const counted: string[] = [];
  const files = {
    find: (tenant: string, id: string) => {
      const row = rows.get(id);
      return Promise.resolve(row?.tenant === tenant ? row : undefined);
    },
    createFor: ({ jobId, epoch }: { jobId: string; epoch: number }, file: StoredFile) => {
      if (isLost || jobId !== 'batch_1' || epoch !== 3) return Promise.resolve(false);
      rows.set(file.id, file);
      return Promise.resolve(true);
    },
    madeFor: (_id: string, { limit, after = '' }: { limit: number; after?: string }) =>
      Promise.resolve(
        [...rows.keys()]
          .sort()
          .filter(id => id > after)
          .slice(0, limit),
      ),
    removeFor: (_: object, ids: readonly string[]) => {
      removals.push(ids.length);
      for (const id of ids) rows.delete(id);
      return Promise.resolve();
    },
  };
  const results = new ResultFiles(
    settingsFrom({ 'files.batch_expiry_ms': 30 * DAY_MS }),
    files as unknown as FileStore,
    blobs,
    {
      stored: (what: string, how: string) => counted.push(what === 'store' ? how : what),
    } as unknown as JobMetrics,
    { step: (_: string, __: string, work: () => unknown) => work() } as unknown as JobTraces,
  );
  const lease = { job: { id: 'batch_1', tenant: 't', ...job }, epoch: 3 };
  const work = { lease } as unknown as ClaimedJob;
  const save = (id?: string) =>
    results.save(
      lease as unknown as JobClaim,
      'a.wav',
      () => Readable.from([Buffer.from('RIFF')]),
      id,
    );
  const log = await ResultLog.open(temporaryFolder(), 1, 9);
  return { files: blobs, rows, removals, counted, results, work, save, log };
}

describe('the result files of a batch', () => {
  beforeEach(useRealTimers);

  const append = async (log: ResultLog, ...kinds: ('O' | 'E')[]) => {
    for (const [index, kind] of kinds.entries())
      log.append({ index, kind, line: `{"line":${index}}` });
    await log.flush();
  };

  it('have the lines of each kind, and are not made without any', async () => {
    const { files, rows, results, work, log } = await harness();
    expect(await results.publish(work, log)).toEqual({});
    await append(log, 'O', 'E', 'O');
    const { outputFileId = '', errorFileId = '' } = await results.publish(work, log);
    const text = async (id: string) => (await readWhole(files, fileBlobKey('t', id))).toString();
    expect(await text(outputFileId)).toBe('{"line":0}\n{"line":2}\n');
    expect(await text(errorFileId)).toBe('{"line":1}\n');
    expect(rows.get(outputFileId)).toMatchObject({
      ...{ tenant: 't', purpose: 'batch_output', filename: 'batch_1_output.jsonl', bytes: 22 },
      sha256: hash('sha256', '{"line":0}\n{"line":2}\n'),
    });
    expect(rows.get(errorFileId)).toMatchObject({ filename: 'batch_1_error.jsonl', bytes: 11 });
    // The same files, however often.
    expect(await results.publish(work, log)).toEqual({ outputFileId, errorFileId });
    expect([rows.size, await results.published(work)]).toEqual([2, { outputFileId, errorFileId }]);
    await log.close();
  });

  it('get other ids when the ones of their claim are old', async () => {
    const { results, work, log } = await harness();
    const old = timeOrderedId('file-', Date.now() - DAY_MS);
    work.resultIds = { output: old, error: old };
    await append(log, 'O');
    const { outputFileId, errorFileId } = await results.publish(work, log);
    expect(outputFileId).toMatch(/^file-/);
    expect([outputFileId === old, errorFileId]).toEqual([false, undefined]);
    expect(await results.published({ ...work, resultIds: undefined })).toEqual({});
    await log.close();
  });

  it('are the only ones of the batch afterwards, with the audio that lines name', async () => {
    const { rows, results, work, save, log, removals } = await harness({
      endpoint: '/v1/audio/speech',
    });
    const named = await save();
    for (let made = 0; made < 501; made++) {
      const id = timeOrderedId('file-', Date.now());
      rows.set(id, { ...named, id });
    }
    log.append({ index: 0, kind: 'O', line: `{"response":{"body":{"file_id":"${named.id}"}}}` });
    log.append({ index: 1, kind: 'O', line: '{"response":{"body":{"audio":"UklGRg=="}}}' });
    await log.flush();
    const { outputFileId } = await results.publish(work, log);
    expect([...rows.keys()].sort()).toEqual([named.id, outputFileId].sort());
    expect(removals.reduce((sum, count) => sum + count)).toBe(501);
    await log.close();
  });

  it.each([
    [undefined, 30 * DAY_MS],
    [5, 5000],
    [0, undefined],
  ])('that live %s seconds expire after %s ms', async (outputExpiresAfterS, lifeMs) => {
    const { save } = await harness({ outputExpiresAfterS });
    const { createdAtMs, expiresAtMs } = await save();
    expect(expiresAtMs).toBe(lifeMs === undefined ? undefined : createdAtMs + lifeMs);
  });

  it('are rows of the claim only, whose names are young enough to be kept', async () => {
    const { save, rows } = await harness({}, true);
    await expect(save()).rejects.toThrow(LeaseLost);
    const old = timeOrderedId('file-', Date.now() - DAY_MS);
    await expect(save(old)).rejects.toMatchObject({ code: 'ESTALE' });
    expect(rows.size).toBe(0);
  });
});

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type JobChange, type UpdateOutcome } from '../../core/jobs/job.ports.js';
import { encodePlan, Plan } from '../../core/jobs/plan-entry.js';
import { type ExecuteService } from '../execute/execute.service.js';
import { type IngestService } from '../ingest/ingest.service.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { JobFolder } from '../job/job-folder.js';
import { type ResultFiles } from '../job/result-files.js';
import { ResultLog } from '../job/result-log.js';
import { LeaseLost } from '../lease/job-lease.js';
import { JobStop } from '../lease/job-stop.js';
import { BatchRunner } from './batch-runner.js';

Logger.overrideLogger(false);

type Reason = NonNullable<JobStop['reason']>;

interface Case {
  readonly status?: BatchJob['status'];
  readonly windowMs?: number;
  /** Lines per model. */
  readonly models?: Record<string, number>;
  readonly rejected?: number;
  /** What the store says to each change; then `written`. */
  readonly outcomes?: UpdateOutcome[];
  /** Lines that have an answer when execution stops. */
  readonly answered?: number;
  /** Why execution stops. */
  readonly reason?: Reason;
  /** Ingestion is cut short for this. */
  readonly stopped?: Reason;
  readonly problems?: readonly { readonly code: string }[];
  readonly isLost?: boolean;
}

const lineOf = (at: number): string => `{"custom_id":"${at}"`.padEnd(23).concat(',"body":{}}');
const LINE_BYTES = lineOf(0).length;

async function folderWith(lines: number, rejected: number): Promise<JobFolder> {
  const folder = new JobFolder(temporaryFolder(), 'batch_1');
  await folder.make();
  await writeFile(
    folder.input,
    Array.from({ length: lines }, (_, at) => `${lineOf(at)}\n`).join(''),
  );
  const invalid = Array.from({ length: rejected }, (_, at) => `{"rejected":${at}}\n`);
  if (rejected > 0) await writeFile(folder.rejected, invalid.join(''));
  return folder;
}

/** A claimed batch, and what its stores were told about it. */
async function claimed(given: Case) {
  const { models = { m: 2 }, rejected = 0, status = 'validating', windowMs = 60_000 } = given;
  const valid = Object.values(models).reduce((sum, lines) => sum + lines, 0);
  const folder = await folderWith(valid, rejected);
  const outcomes = [...(given.outcomes ?? [])];
  const changes: JobChange[] = [];
  const events: string[] = [];
  const times = { createdAtMs: Date.now(), expiresAtMs: Date.now() + windowMs, reachedAtMs: {} };
  const lease = {
    job: { id: 'batch_1', tenant: 't', status, ...times } as BatchJob,
    update: (change: JobChange) => {
      changes.push(change);
      const outcome = outcomes.shift() ?? 'written';
      if (outcome === 'written') lease.job = { ...lease.job, ...change };
      return Promise.resolve(outcome);
    },
    assertHeld: () => {
      if (given.isLost) throw new LeaseLost('batch_1');
    },
    ended: () => void events.push('ended'),
  };
  const { problems } = given;
  const work = {
    lease,
    folder,
    stop: new JobStop(),
    writer: 'w',
    problems,
  } as unknown as ClaimedJob;
  let first = 0;
  const plans = Object.entries(models).map(([model, lines]) => {
    const start = first;
    first += lines;
    const entries = Array.from({ length: lines }, (_, at) => ({
      ...{ offset: (start + at) * (LINE_BYTES + 1), length: LINE_BYTES, prefixHash: 0 },
    }));
    return { model, first: start, plan: new Plan(encodePlan(entries)) };
  });
  const plan = { total: valid + rejected, models: plans, firstRejected: valid };
  const log = await ResultLog.open(folder.results, 1, plan.total);
  return { work, plan, log, changes, events };
}

async function run(given: Case = {}, prepared?: object) {
  const { work, plan, log, changes, events } = await claimed(given);
  const flush = jest.spyOn(log, 'flush');
  const found: { flushes?: number; doneBefore?: number; lines?: string[] } = {};
  const runner = new BatchRunner(
    {
      prepare: () => {
        if (given.stopped) work.stop.request(given.stopped);
        return Promise.resolve(prepared ?? { plan });
      },
    } as unknown as IngestService,
    {
      openLog: () => Promise.resolve(log),
      run: async () => {
        found.doneBefore = log.progress.done;
        found.flushes = flush.mock.calls.length;
        for (let index = 0; index < (given.answered ?? 0); index++)
          log.append({ index, kind: 'O', line: '{}' });
        await log.flush();
        flush.mockClear();
        if (given.reason) work.stop.request(given.reason);
        return work.stop.reason;
      },
      removeFolder: () => Promise.resolve(void events.push('folder removed')),
    } as unknown as ExecuteService,
    {
      publish: async () => {
        const lines = await Array.fromAsync(log.lines('E'), String);
        found.lines = lines;
        events.push('published');
        return { outputFileId: 'file-o' };
      },
      published: () => Promise.resolve({ errorFileId: 'file-e' }),
    } as unknown as ResultFiles,
  );
  const close = jest.spyOn(log, 'close');
  const ending = await runner.run(work).catch((error: unknown) => error);
  const [last] = [...changes].reverse();
  const isClosed = close.mock.calls.length === 1;
  await log.close();
  return { ending, changes, last, events, work, runner, log, flush, isClosed, ...found };
}

const statuses = (changes: readonly JobChange[]) => changes.map(({ status }) => status);
const IN_ORDER = ['published', 'ended', 'folder removed'];

describe('a batch', () => {
  it('is in progress, is finalizing, and ends completed with its files and its counts', async () => {
    const { ending, changes, events, isClosed, flush } = await run({ answered: 2 });
    const counts = { total: 2, completed: 2, failed: 0 };
    expect([ending, events, isClosed]).toEqual(['completed', IN_ORDER, true]);
    expect(changes).toEqual([
      { status: 'in_progress', counts: { total: 2, completed: 0, failed: 0 }, model: 'm' },
      { status: 'finalizing', counts, usage: undefined },
      { status: 'completed', counts, usage: undefined, outputFileId: 'file-o' },
    ]);
    expect(flush).not.toHaveBeenCalled();
  });

  it('has a model where all its lines name the same', async () => {
    const { changes } = await run({ models: { a: 1, b: 1 }, answered: 2 });
    expect(changes[0]!.model).toBeUndefined();
  });

  it.each<[Case, string, (string | undefined)[]]>([
    [{ reason: 'expired' }, 'expired', ['in_progress', 'expired']],
    [{ reason: 'cancelled' }, 'cancelled', ['in_progress', 'cancelled']],
    [{ reason: 'failed' }, 'failed', ['in_progress', 'failed']],
    [{ status: 'in_progress', answered: 2 }, 'completed', ['finalizing', 'completed']],
    [{ status: 'finalizing', answered: 2 }, 'completed', ['completed']],
    [{ windowMs: -1 }, 'expired', ['expired']],
    [{ reason: 'shutdown' }, 'handed_over', ['in_progress']],
    [{ stopped: 'lost' }, 'handed_over', []],
    [{ outcomes: ['cancelling'], answered: 2 }, 'cancelled', ['in_progress', 'cancelled']],
    [
      { status: 'in_progress', outcomes: ['cancelling'], answered: 2 },
      'cancelled',
      ['finalizing', 'cancelled'],
    ],
    [
      { status: 'finalizing', outcomes: ['cancelling'], answered: 2 },
      'cancelled',
      ['completed', 'cancelled'],
    ],
  ])('of %j is %s: it is written as %j', async (given, ending, written) => {
    const { changes, events, ...ended } = await run(given);
    expect([ended.ending, statuses(changes)]).toEqual([ending, written]);
    expect(events).toEqual(ending === 'handed_over' ? [] : IN_ORDER);
  });

  it('that was cancelled while its files were written keeps them', async () => {
    const given = { status: 'finalizing', outcomes: ['cancelling'], answered: 2 } as const;
    const { last } = await run({ ...given, outcomes: [...given.outcomes] });
    expect(last).toMatchObject({ status: 'cancelled', outputFileId: 'file-o' });
  });

  it('says why it failed', async () => {
    const problems = [{ code: 'internal_error' }];
    expect((await run({ reason: 'failed', problems })).last).toMatchObject({ problems });
  });

  it('writes no file once its lease is lost', async () => {
    const { ending, events, isClosed } = await run({ answered: 2, isLost: true });
    expect(ending).toBeInstanceOf(LeaseLost);
    expect([events, isClosed]).toEqual([[], true]);
  });

  it('with an invalid input file fails without files, and reports what is wrong', async () => {
    const problems = [{ code: 'empty_file' }];
    const { ending, changes, events } = await run({}, { problems });
    expect(ending).toBe('failed');
    expect(changes).toEqual([{ status: 'failed', problems }]);
    expect(events).toEqual(['ended', 'folder removed']);
  });
});

describe('the error file', () => {
  const parsed = (lines: readonly string[] = []) =>
    lines.map(line => {
      const { custom_id: id, error } = JSON.parse(line) as {
        custom_id: string;
        error: { code: string; message: string };
      };
      return [id, error.code, error.message];
    });

  it.each<[Reason, string]>([
    ['expired', 'could not be executed before the completion window expired'],
    ['cancelled', 'was not executed because the batch was cancelled'],
    ['failed', 'was not executed because the batch failed'],
  ])('has a line for each without an answer: %s', async (reason, message) => {
    const { lines, last } = await run({ models: { a: 2, b: 2 }, answered: 1, reason });
    expect(parsed(lines)).toEqual(
      ['1', '2', '3'].map(id => [id, `batch_${reason}`, `This request ${message}.`]),
    );
    expect(last!.counts).toEqual({ total: 4, completed: 1, failed: 3 });
  });

  it('has the invalid lines of the input, once, before any line is sent', async () => {
    const { lines, doneBefore, log } = await run({ rejected: 2, answered: 2 });
    expect([lines, doneBefore]).toEqual([['{"rejected":0}\n', '{"rejected":1}\n'], 2]);
    expect(log.progress.counts).toEqual({ total: 4, completed: 2, failed: 2 });
  });

  it('is written in groups of 1,000 lines, so that few are in memory', async () => {
    const { flushes, flush, lines } = await run({
      ...{ models: { m: 2002 }, rejected: 2002, reason: 'expired' as const },
    });
    // One more for the rest; those of invalid lines begin at line 2,002.
    expect([flushes, flush.mock.calls.length, lines!.length]).toEqual([3, 3, 4004]);
  });
});

describe('a batch whose stores do not recover', () => {
  it.each([
    ['finalizing', 'failed'],
    ['cancelling', 'cancelled'],
  ] as const)('%s ends %s with the files that are stored, and says why', async (status, ending) => {
    const { work, changes, events, runner } = await run({ status, stopped: 'trouble' });
    expect(existsSync(work.folder.path)).toBe(true);
    expect(await runner.endOverdue(work)).toBe(ending);
    const problems = [expect.objectContaining({ code: 'storage_unavailable' })];
    expect(changes).toEqual([{ status: ending, errorFileId: 'file-e', problems }]);
    expect(events).toEqual(['ended']);
  });
});

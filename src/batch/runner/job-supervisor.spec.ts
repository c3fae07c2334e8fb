import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { useFakeTimers, useRealTimers } from '../../../test/support/fake-timers.js';
import {
  LEASE_MS,
  WINDOW_MS,
  FINALIZE_MS,
  type JobRun,
  jobSupervisor,
} from '../../../test/support/job-supervisor.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { InputDamaged } from '../job/input-lines.js';
import { LeaseLost } from '../lease/job-lease.js';
import { type Ending } from './batch-runner.js';
import { JobSupervisor } from './job-supervisor.js';

Logger.overrideLogger(false);

const outage = () => Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
const never = () => new Promise<never>(() => undefined);

beforeEach(() => {
  useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  jest.restoreAllMocks();
  useRealTimers();
});

const ends =
  (ending: Ending, afterMs = 0): JobRun =>
  async ({ lease }) => {
    if (afterMs > 0) await new Promise(next => setTimeout(next, afterMs));
    lease.ended();
    return ending;
  };
const fails =
  (error: () => Error): JobRun =>
  () =>
    Promise.reject(error());

const handsOver: JobRun = () => Promise.resolve('handed_over');

const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('a supervised batch', () => {
  it('counts as open until it ends, and is measured', async () => {
    const { supervised, supervise, events, works, folder } = jobSupervisor(ends('completed', 2000));
    await advance(1000);
    const ending = supervise();
    await advance(1);
    expect([supervised.size, supervised.works]).toEqual([1, works]);
    expect(works[0]).toMatchObject({ writer: `7-${process.pid}` });
    expect(works[0]!.folder.path).toBe(`${folder}/jobs/batch_1`);
    await advance(2000);
    expect(await ending).toBe('completed');
    expect(supervised.size).toBe(0);
    expect(events).toEqual(['claimed', 'traced batch_1', 'completed after 2 s']);
  });

  it('that is handed over is released, also when the database does not respond', async () => {
    const { supervised, supervise, events, store } = jobSupervisor(handsOver);
    expect(await supervise()).toBe('handed_over');
    const gone = ['claimed', 'traced no end', 'handed over: guard_shutdown'];
    expect(events).toEqual([...gone, 'released']);
    store.release.mockRejectedValueOnce(outage());
    expect(await supervise()).toBe('handed_over');
    expect(supervised.size).toBe(0);
  });

  it('is claimed for the time of a lease, which is prolonged at once when it is woken', async () => {
    const { supervised, supervise, beats } = jobSupervisor(never);
    expect(await supervised.claim('me')).toEqual({ owner: 'me', leaseMs: LEASE_MS });
    void supervise();
    await advance(1);
    expect(beats()).toBe(0);
    supervised.wake();
    expect(beats()).toBe(1);
    await advance(LEASE_MS / 3);
    expect(beats()).toBe(2);
    supervised.stop();
  });

  it('learns that it was cancelled', async () => {
    const { supervise, supervised, works, store } = jobSupervisor(never);
    void supervise();
    await advance(1);
    const { job } = works[0]!.lease;
    store.heartbeat.mockResolvedValue({ ...job, status: 'cancelling' });
    supervised.wake();
    await advance(1);
    expect(works[0]!.stop.reason).toBe('cancelled');
  });

  it.each([
    ['lease_lost', () => Promise.resolve(undefined)],
    ['db_transient', () => Promise.reject(outage())],
  ])('whose lease ends is handed over, and is not released: %s', async (reason, heartbeat) => {
    const untilLost: JobRun = async ({ stop }) => {
      await new Promise<void>(next => stop.listen(() => next()));
      throw new Error('cut short');
    };
    const { supervise, events, works, changes, store, times } = jobSupervisor(untilLost);
    store.heartbeat.mockImplementation(heartbeat);
    const ending = supervise();
    await advance(LEASE_MS * 2);
    expect([await ending, works[0]!.stop.reason]).toEqual(['handed_over', 'lost']);
    expect(events).toEqual(['claimed', 'traced no end', `handed over: ${reason}`]);
    expect([changes, times]).toEqual([[], [0]]);
  });
});

describe('a batch that cannot be run', () => {
  it('is run again after an outage, after a pause that doubles up to a minute', async () => {
    const { supervise, times, events } = jobSupervisor(
      ...Array<JobRun>(8).fill(fails(outage)),
      ends('completed'),
    );
    const ending = supervise('batch_1', 't', 1_000_000);
    await advance(200_000);
    expect(await ending).toBe('completed');
    const pauses = times.slice(1).map((atMs, index) => atMs - times[index]!);
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map(seconds => seconds * 1000));
    expect(events.filter(event => event === 'trouble: away')).toHaveLength(8);
  });

  it('gets its input again when that is damaged, and is not failed for it', async () => {
    const { supervise, works, folder, changes } = jobSupervisor(
      fails(() => new InputDamaged('short')),
      ends('completed'),
    );
    const input = `${folder}/jobs/batch_1/input.jsonl`;
    await mkdir(dirname(input), { recursive: true });
    await writeFile(input, '');
    const ending = supervise();
    while (existsSync(input)) {
      await advance(0);
      await new Promise(next => setImmediate(next));
    }
    await advance(2000);
    expect(await ending).toBe('completed');
    expect([works[0]!.problems, changes]).toEqual([undefined, []]);
  });

  it('ends as failed, with the results that it has, for any other error', async () => {
    const seen: unknown[] = [];
    const { supervise, works } = jobSupervisor(
      fails(() => new TypeError('bug')),
      async work => {
        seen.push(work.stop.reason);
        return ends('failed')(work);
      },
    );
    const ending = supervise();
    await advance(1000);
    expect([await ending, seen]).toEqual(['failed', ['failed']]);
    const message = 'Internal error (TypeError); see the log of the batch processor.';
    expect(works[0]!.problems).toEqual([
      { code: 'internal_error', message, param: null, line: null },
    ]);
  });

  it.each([false, true])(
    'ends as failed without results when that fails too; its row cannot be written: %s',
    async isAway => {
      const { supervise, changes, store, times, events } = jobSupervisor(
        fails(() => new TypeError('bug')),
        fails(outage),
        fails(() => new TypeError('bug')),
      );
      if (isAway) store.update = () => Promise.reject(outage());
      const ending = supervise();
      await advance(10_000);
      expect([await ending, times.length]).toEqual(['failed', 3]);
      const problems = [expect.objectContaining({ code: 'internal_error' })];
      expect(changes).toEqual(isAway ? [] : [{ status: 'failed', problems }]);
      expect(events.slice(-2)).toEqual(['traced batch_1', 'failed after 3 s']);
    },
  );

  it.each<[string, string, (work: ClaimedJob, its: JobSupervisor) => void]>([
    [
      'its lease is lost',
      'lease_lost',
      ({ lease }) => void lease.update({}).catch(() => undefined),
    ],
    ['the processor stops', 'guard_shutdown', (_, its) => its.stop()],
    ['it is preempted', 'preempted', ({ stop }) => stop.request('preempted')],
  ])('is handed over as it is when %s', async (_, reason, happens) => {
    const { supervise, supervised, store, times, works, events } = jobSupervisor(async work => {
      happens(work, supervised);
      await Promise.resolve();
      throw new TypeError('cut short');
    });
    store.update = () => Promise.resolve('lost');
    const ending = supervise();
    await advance(0);
    expect([await ending, times.length, works[0]!.problems]).toEqual(['handed_over', 1, undefined]);
    expect(events).toContain(`handed over: ${reason}`);
  });

  it('is handed over when its run says that the lease is lost', async () => {
    const { supervise, events } = jobSupervisor(fails(() => new LeaseLost('batch_1')));
    expect(await supervise()).toBe('handed_over');
    expect(events).not.toContain('trouble: The lease of batch_1 is lost.');
  });

  it('is not run again when the processor stops while it waits', async () => {
    const { supervise, supervised, times } = jobSupervisor(fails(outage));
    const ending = supervise();
    await advance(10);
    supervised.stop();
    await advance(0);
    expect([await ending, times]).toEqual(['handed_over', [0]]);
  });

  it('that has ended is not failed for an error after its end', async () => {
    const { supervise, works, changes } = jobSupervisor(({ lease }) => {
      lease.ended();
      return Promise.reject(new TypeError('late'));
    });
    expect(await supervise()).toBe('handed_over');
    expect([works[0]!.problems, changes]).toEqual([undefined, []]);
  });
});

describe('a batch whose stores do not recover', () => {
  it('ends when the time for its result files is over, however long its run takes', async () => {
    const { supervise, runner, works } = jobSupervisor(never);
    const ending = supervise();
    await advance(WINDOW_MS + FINALIZE_MS - 1);
    expect(runner.endOverdue).not.toHaveBeenCalled();
    await advance(1);
    expect([await ending, works[0]!.stop.reason]).toEqual(['failed', 'lost']);
    await advance(1000);
    expect(runner.endOverdue).toHaveBeenCalledTimes(1);
  });

  it('is tried again until its end is written', async () => {
    const { supervise, runner } = jobSupervisor(never);
    runner.endOverdue.mockRejectedValueOnce(outage());
    const ending = supervise('batch_1', 't', -FINALIZE_MS);
    await advance(499);
    expect(runner.endOverdue).toHaveBeenCalledTimes(1);
    await advance(1);
    expect([await ending, runner.endOverdue.mock.calls.length]).toEqual(['failed', 2]);
  });

  it.each<[string, (its: JobSupervisor, work: ClaimedJob) => void]>([
    ['while the processor stops', its => its.stop()],
    ['after its lease was lost', (_, { lease }) => void lease.update({}).catch(() => undefined)],
    ['after its run has ended', (_, { stop }) => stop.request('shutdown')],
  ])('is left to others %s', async (_, happens) => {
    const { supervise, supervised, runner, works, store } = jobSupervisor(
      ({ stop }) =>
        new Promise(next => stop.listen(reason => reason === 'shutdown' && next('failed'))),
    );
    store.update = () => Promise.resolve('lost');
    void supervise('batch_1', 't', -FINALIZE_MS);
    await advance(100);
    happens(supervised, works[0]!);
    await advance(1000);
    expect(runner.endOverdue).not.toHaveBeenCalled();
  });
});

describe('preemption', () => {
  const SHARES = [
    { tenant: 'a', running: 3, waiting: 0 },
    { tenant: 'b', running: 0, waiting: 1 },
  ];

  it('hands over the batch with most time left of the tenant that has most, one at a time', async () => {
    const { supervise, supervised, works } = jobSupervisor(never);
    for (const [id, tenant, windowMs] of [
      ['soon', 'a', 1000],
      ['late', 'a', 9000],
      ['middle', 'a', 5000],
      ['other', 'c', 99_000],
    ] as const)
      void supervise(id, tenant, windowMs);
    await advance(1);
    const preempted = () =>
      works.filter(({ stop }) => stop.reason === 'preempted').map(({ lease }) => lease.job.id);
    supervised.preemptFor([SHARES[0]!]);
    expect(preempted()).toEqual([]);
    for (let looks = 0; looks < 2; looks++) supervised.preemptFor(SHARES);
    expect(preempted()).toEqual(['late']);
    supervised.stop();
    expect(works.map(({ stop }) => stop.reason)).toEqual(Array(4).fill('shutdown'));
  });
});

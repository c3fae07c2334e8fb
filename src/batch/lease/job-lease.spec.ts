import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type JobClaims } from '../../platform/database/job-claims.js';
import { JobLease, LeaseLost } from './job-lease.js';

const LEASE_MS = 900;
const job = { id: 'batch_1', status: 'in_progress', reachedAtMs: {} } as unknown as BatchJob;

describe('JobLease', () => {
  let answers: (BatchJob | undefined | Error)[];
  let beats: number;
  const heard: string[] = [];
  const store = {
    heartbeat: () => {
      beats += 1;
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    update: () => Promise.resolve('lost'),
    release: () => Promise.resolve(void heard.push('released')),
  } as unknown as JobClaims;
  const lease = (): JobLease =>
    new JobLease(store, { job, epoch: 3 }, LEASE_MS, {
      onCancel: () => heard.push('cancel'),
      onLost: () => heard.push('lost'),
      onError: () => heard.push('trouble'),
    });

  beforeEach(() => {
    jest.useFakeTimers();
    heard.length = 0;
    beats = 0;
    answers = [job];
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('beats every third of the lease and stays', async () => {
    const held = lease();
    await jest.advanceTimersByTimeAsync(LEASE_MS * 10);
    expect(beats).toBe(30);
    expect(held.isLost).toBe(false);
    await held.release();
    expect(heard).toEqual(['released']);
  });

  it('lets nothing be written once it ran out, whatever the store would say', async () => {
    answers = [new Error('down')];
    const held = lease();
    await jest.advanceTimersByTimeAsync(LEASE_MS * 2);
    expect(() => held.assertHeld()).toThrow(LeaseLost);
    held.stop();
  });

  it("is nobody else's when the job has ended: a late update of its counts is no loss", async () => {
    const held = lease();
    held.ended();
    expect(await held.update({})).toBe('written');
    await held.release();
    expect(heard).toEqual([]);
  });

  it('reports a cancel once', async () => {
    answers = [{ ...job, status: 'cancelling' }];
    const held = lease();
    await jest.advanceTimersByTimeAsync(LEASE_MS * 2);
    expect(heard).toEqual(['cancel']);
    held.stop();
  });

  it('outlives a store that is silent for less than the lease, and is lost after it', async () => {
    answers = [new Error('down'), new Error('down'), job, new Error('down')];
    const held = lease();
    await jest.advanceTimersByTimeAsync(LEASE_MS);
    expect(held.isLost).toBe(false);
    await jest.advanceTimersByTimeAsync(LEASE_MS + LEASE_MS / 3);
    expect([held.isLost, held.isLostToOutage]).toEqual([true, true]);
    expect(heard.at(-1)).toBe('lost');
  });

  it('is lost when another has the job; nothing is written or released from then on', async () => {
    answers = [undefined];
    const held = lease();
    await jest.advanceTimersByTimeAsync(LEASE_MS / 3);
    expect(heard).toEqual(['lost']);
    expect(held.isLostToOutage).toBe(false);
    await expect(held.update({})).rejects.toThrow(LeaseLost);
    await held.release();
    expect(heard).toEqual(['lost']);
  });

  it('is lost when a write is refused', async () => {
    const held = lease();
    await expect(held.update({ status: 'finalizing' })).rejects.toThrow(LeaseLost);
    expect(held.isLost).toBe(true);
  });

  it('is held until its time is over, to the millisecond, and reports its loss once', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1000);
    const held = lease();
    now.mockReturnValue(1000 + LEASE_MS);
    expect([held.isLost, held.hasEnded]).toEqual([false, false]);
    now.mockReturnValue(1000 + LEASE_MS + 1);
    expect([held.isLost, held.isLost, heard]).toEqual([true, true, ['lost']]);
    expect([held.isLostToOutage, jest.getTimerCount()]).toEqual([false, 0]);
    await held.beat();
    expect(beats).toBe(0);
    now.mockRestore();
  });

  it('is prolonged from when its heartbeat was sent', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const held = lease();
    now.mockReturnValue(100);
    const answered = held.beat();
    // One at a time.
    expect(held.beat()).toBe(answered);
    now.mockReturnValue(300);
    await answered;
    expect(beats).toBe(1);
    now.mockReturnValue(100 + LEASE_MS);
    expect(held.isLost).toBe(false);
    now.mockReturnValue(101 + LEASE_MS);
    expect(held.isLost).toBe(true);
    now.mockRestore();
  });

  it('never runs out once its job has ended, whatever a late heartbeat says', async () => {
    answers = [undefined];
    const held = lease();
    const late = held.beat();
    held.ended();
    await late;
    jest.advanceTimersByTime(LEASE_MS * 2);
    await held.beat();
    expect([held.isLost, held.hasEnded, beats, heard]).toEqual([false, true, 1, []]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is released after the heartbeat that is on its way, and beats no more', async () => {
    const held = lease();
    void held.beat();
    await held.release();
    expect([beats, heard, jest.getTimerCount()]).toEqual([1, ['released'], 0]);
  });

  it('has the job as it was last written or read', async () => {
    jest.setSystemTime(5000);
    const written: unknown[] = [];
    const outcomes = ['written', 'cancelling', 'written'];
    const update = (...args: unknown[]) => Promise.resolve((written.push(args), outcomes.shift()));
    const held = new JobLease(
      { ...store, update } as unknown as JobClaims,
      { job: { ...job, reachedAtMs: { in_progress: 1 } }, epoch: 3 },
      LEASE_MS,
      { onCancel: () => undefined, onLost: () => undefined, onError: () => undefined },
    );
    expect(await held.update({ status: 'finalizing', model: 'm' })).toBe('written');
    const reachedAtMs = { in_progress: 1, finalizing: 5000 };
    expect(held.job).toMatchObject({ status: 'finalizing', model: 'm', reachedAtMs });
    expect(written).toEqual([['batch_1', 3, { status: 'finalizing', model: 'm' }, 5000]]);
    expect(await held.update({ status: 'completed' })).toBe('cancelling');
    expect(held.job.status).toBe('finalizing');
    jest.setSystemTime(6000);
    await held.update({ status: 'finalizing' });
    expect(held.job.reachedAtMs).toEqual(reachedAtMs);
    outcomes.push('written');
    await held.update({});
    expect(held.job.reachedAtMs).toEqual(reachedAtMs);
    held.stop();
  });

  it('is not lost to an outage when the store answered after it', async () => {
    answers = [new Error('down'), undefined];
    const held = lease();
    await jest.advanceTimersByTimeAsync(LEASE_MS);
    expect([heard, held.isLostToOutage]).toEqual([['trouble', 'lost'], false]);
  });

  it('writes nothing once it is lost', async () => {
    answers = [undefined];
    const held = lease();
    expect(() => held.assertHeld()).not.toThrow();
    await held.beat();
    expect(() => held.assertHeld()).toThrow('The lease of batch_1 is lost.');
  });
});

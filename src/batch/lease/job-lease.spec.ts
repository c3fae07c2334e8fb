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
});

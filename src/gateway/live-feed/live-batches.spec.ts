import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type JobStore } from '../../platform/database/job-store.js';
import { LiveBatches } from './live-batches.js';
import { type LiveFeed } from './live-feed.js';
import { type LiveSource } from './live-source.js';

const ROOM = 'batch:b1';

describe('the batches of a live feed', () => {
  let reads: string[];
  let published: unknown[][];
  let forgotten: string[];
  /** What the database and the feed have. */
  let now: { status: string; isWatched: boolean; fails: boolean };
  let batches: LiveBatches;

  beforeEach(() => {
    jest.useFakeTimers();
    [reads, published, forgotten] = [[], [], []];
    now = { status: 'in_progress', isWatched: true, fails: false };
    let known: { tenant: string; view: { status: string } } | undefined;
    const find = (tenant: string, id: string) => {
      reads.push(`${tenant} ${id}`);
      if (now.fails) return Promise.reject(new Error('away'));
      return Promise.resolve(tenant === 'owner' ? { tenant, status: now.status } : undefined);
    };
    const source = {
      batch: () => known,
      readBatch: ({ tenant, status }: BatchJob) => {
        if (known?.view.status === status) return undefined;
        return (known = { tenant, view: { status } });
      },
      forgetBatch: (id: string) => {
        known = undefined;
        forgotten.push(id);
      },
    };
    const feed = {
      find: (name: string) => (now.isWatched ? { name } : undefined),
      publish: (...change: unknown[]) => void published.push(change),
    };
    batches = new LiveBatches(
      { find } as unknown as JobStore,
      source as unknown as LiveSource,
      feed as unknown as LiveFeed,
    );
  });
  afterEach(() => {
    batches.onApplicationShutdown();
    jest.useRealTimers();
  });

  const rounds = (count: number) => jest.advanceTimersByTimeAsync(count * 1000);

  it('are read before a client joins, then once a second, and changes are published', async () => {
    await batches.expect(ROOM, 'owner');
    expect(reads).toEqual(['owner b1']);
    await jest.advanceTimersByTimeAsync(999);
    expect(reads).toHaveLength(1);
    now.status = 'finalizing';
    await jest.advanceTimersByTimeAsync(1);
    await rounds(1);
    expect(reads).toHaveLength(3);
    const published1 = [{ name: ROOM }, { set: { b1: { status: 'in_progress' } } }, 'owner'];
    const published2 = [{ name: ROOM }, { set: { b1: { status: 'finalizing' } } }, 'owner'];
    expect(published).toEqual([published1, published2]);
  });

  it('are read once a second for each tenant that listens, however many clients', async () => {
    for (const tenant of ['owner', 'other', 'owner']) await batches.expect(ROOM, tenant);
    reads.length = 0;
    await rounds(1);
    expect(reads).toEqual(['owner b1', 'other b1']);
  });

  it('are not read again once they have ended, and as long as a database is away', async () => {
    await batches.expect(ROOM, 'owner');
    now.fails = true;
    await rounds(2);
    now = { ...now, fails: false, status: 'completed' };
    await rounds(1);
    expect([reads.length, published.length]).toEqual([4, 2]);
    await rounds(3);
    expect(reads).toHaveLength(4);
  });

  it('are forgotten after two rounds without a listener, one after the other', async () => {
    now.isWatched = false;
    await batches.expect(ROOM, 'owner');
    await rounds(1);
    now.isWatched = true;
    await rounds(1);
    now.isWatched = false;
    await rounds(1);
    expect([forgotten, published.length]).toEqual([[], 0]);
    await rounds(1);
    expect([forgotten, jest.getTimerCount()]).toEqual([['b1'], 0]);
  });

  it('are not expected in other rooms, and none is read after the end', async () => {
    await batches.expect('queue', 'owner');
    expect([reads, jest.getTimerCount()]).toEqual([[], 0]);
    await batches.expect(ROOM, 'owner');
    batches.onApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
    await batches.expect(ROOM, 'owner');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('start no further round once the gateway ends during one', async () => {
    await batches.expect(ROOM, 'owner');
    jest.advanceTimersByTime(1000);
    batches.onApplicationShutdown();
    await rounds(1);
    expect([reads.length, jest.getTimerCount()]).toEqual([2, 0]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { type Lease } from '../../core/dispatch/lease.js';
import { Semaphore } from './semaphore.js';

/** Who got a permit so far, in order, after all promises that can settle have settled. */
function watch(semaphore: Semaphore, names: readonly string[]) {
  const granted: string[] = [];
  const leases = new Map<string, Lease>();
  for (const name of names) {
    void semaphore.acquire().then(lease => {
      granted.push(name);
      leases.set(name, lease);
    });
  }
  return {
    release: (name: string) => leases.get(name)?.release(),
    granted: async () => {
      await Promise.resolve();
      await Promise.resolve();
      return granted;
    },
  };
}

describe('Semaphore', () => {
  it('hands out 2 permits at once and holds the third back', async () => {
    const semaphore = new Semaphore(2);
    const line = watch(semaphore, ['a', 'b', 'c']);
    expect(await line.granted()).toEqual(['a', 'b']);
    expect([semaphore.available, semaphore.waiting]).toEqual([0, 1]);
  });

  it('gives released permits first come, first served', async () => {
    const semaphore = new Semaphore(1);
    const line = watch(semaphore, ['a', 'b', 'c']);
    await line.granted();
    line.release('a');
    expect(await line.granted()).toEqual(['a', 'b']);
    line.release('b');
    expect(await line.granted()).toEqual(['a', 'b', 'c']);
  });

  it('lets no newcomer overtake one that waits', async () => {
    const semaphore = new Semaphore(1);
    const first = await semaphore.acquire();
    const line = watch(semaphore, ['waiter']);
    first.release();
    const newcomer = watch(semaphore, ['newcomer']);
    expect(await line.granted()).toEqual(['waiter']);
    expect(await newcomer.granted()).toEqual([]);
  });

  it('takes a permit back once, however often its lease is released', async () => {
    const semaphore = new Semaphore(2);
    const lease = await semaphore.acquire();
    lease.release();
    lease.release();
    expect(semaphore.available).toBe(2);
  });

  it('rejects a waiter whose signal aborts, with the reason, and gives its turn to the next', async () => {
    const semaphore = new Semaphore(1);
    const held = await semaphore.acquire();
    const abort = new AbortController();
    const aborted = semaphore.acquire(abort.signal);
    const line = watch(semaphore, ['next']);
    const reason = new Error('client left');
    abort.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    expect(semaphore.waiting).toBe(1);
    held.release();
    expect(await line.granted()).toEqual(['next']);
  });

  it('rejects at once when the signal has aborted before, and holds nothing', async () => {
    const semaphore = new Semaphore(1);
    await expect(semaphore.acquire(AbortSignal.abort('reason'))).rejects.toMatchObject({
      cause: 'reason',
    });
    expect(semaphore.available).toBe(1);
  });

  it('keeps a permit that was granted before its signal aborted', async () => {
    const semaphore = new Semaphore(1);
    const abort = new AbortController();
    const lease = await semaphore.acquire(abort.signal);
    abort.abort();
    expect([semaphore.available, lease.released]).toEqual([0, false]);
  });

  it.each([0, -1, 1.5, NaN])('refuses %d permits', permits => {
    expect(() => new Semaphore(permits)).toThrow(RangeError);
  });
});

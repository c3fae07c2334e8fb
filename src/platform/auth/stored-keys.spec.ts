import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type StoredKey } from '../../core/access/stored-key.js';
import { type KeyStore } from '../database/key-store.js';
import { type EndedSession } from '../database/schema.js';
import { keyDigest } from './key-secret.js';
import { StoredKeys } from './stored-keys.js';

const NOW_MS = 1_800_000_000_000;
const POLL_MS = 2000;

/** What another gateway, or a command, has written. */
class Table {
  keys: readonly Partial<StoredKey>[] = [];
  number = 0;
  ended: readonly EndedSession[] = [];
  used: [ids: readonly string[], atMs: number][] = [];
  isAway = false;
  /** Of the readings of ended sessions: from when on. */
  readonly fromMs: number[] = [];

  change(...keys: readonly Partial<StoredKey>[]): void {
    this.keys = keys.map(key => ({ tenant: 'acme', scopes: [], sha256: key.id!, ...key }));
    this.number++;
  }

  async endedSessions(fromMs: number): Promise<readonly EndedSession[]> {
    await Promise.resolve();
    if (this.isAway) throw new Error('away');
    this.fromMs.push(fromMs);
    return this.ended;
  }

  async endSession(session: EndedSession): Promise<void> {
    await Promise.resolve();
    this.ended = [...this.ended, session];
  }

  version = () => Promise.resolve(this.number);
  live = () => Promise.resolve(this.keys);
  markUsed = (ids: readonly string[], atMs: number) =>
    Promise.resolve(void this.used.push([ids, atMs]));
}

let table: Table;
let keys: StoredKeys;
let changes: number;

beforeEach(() => {
  jest.useFakeTimers({ now: NOW_MS });
  table = new Table();
  keys = new StoredKeys(table as unknown as KeyStore);
  changes = 0;
  keys.changed$.subscribe(() => changes++);
});
afterEach(() => void jest.useRealTimers());

const polls = (count = 1) => jest.advanceTimersByTimeAsync(count * POLL_MS);

describe('keys of the database', () => {
  it('are held before the first request, and read again within 2 s of a change', async () => {
    table.change({ id: 'a' });
    await keys.onApplicationBootstrap();
    expect([keys.held.size, keys.everMade, changes]).toEqual([1, true, 1]);
    table.change({ id: 'a' }, { id: 'b' });
    await jest.advanceTimersByTimeAsync(POLL_MS - 1);
    expect(keys.held.size).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect([keys.held.size, changes]).toEqual([2, 2]);
    await polls();
    expect(changes).toBe(2);
  });

  it('were never made before the first change', async () => {
    expect(keys.everMade).toBe(false);
    await keys.refresh();
    expect(keys.everMade).toBe(false);
    table.change();
    await keys.refresh();
    expect(keys.everMade).toBe(true);
  });

  it('are in effect when a refresh resolves that began after the change', async () => {
    const { live } = table;
    let later: Promise<void> | undefined;
    table.live = async () => {
      const before = await live();
      table.live = live;
      table.change({ id: 'a' });
      later = keys.refresh();
      return before;
    };
    await keys.refresh();
    expect(keys.held.size).toBe(0);
    await later;
    expect(keys.held.size).toBe(1);
  });

  it('say once that one expired', async () => {
    table.change({ id: 'a', expiresAtMs: NOW_MS + POLL_MS });
    await keys.onApplicationBootstrap();
    await polls(3);
    expect(changes).toBe(2);
  });

  it('stay as they were while the database is away, which the log says once each time', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    table.change({ id: 'a' });
    await keys.onApplicationBootstrap();
    for (const isAway of [true, false, true]) {
      table.isAway = isAway;
      await polls(3);
    }
    expect(keys.held.size).toBe(1);
    expect(warn).toHaveBeenCalledTimes(2);
    warn.mockRestore();
  });

  it('are marked as used once a minute, and at the end', async () => {
    await keys.onApplicationBootstrap();
    keys.markUsed('a');
    await polls(29);
    expect(table.used).toEqual([]);
    await polls();
    expect(table.used).toEqual([[['a'], NOW_MS + 60_000]]);
    keys.markUsed('b');
    await polls(29);
    expect(table.used).toHaveLength(1);
    await keys.onApplicationShutdown();
    expect(table.used[1]).toEqual([['b'], NOW_MS + 118_000]);
  });

  it('are read no more after the end, which listeners hear of', async () => {
    await keys.onApplicationBootstrap();
    let isComplete = false;
    keys.changed$.subscribe({ complete: () => (isComplete = true) });
    await keys.onApplicationShutdown();
    const readings = table.fromMs.length;
    await polls(2);
    expect([isComplete, table.fromMs.length]).toEqual([true, readings]);
  });
});

describe('sessions that were signed out', () => {
  it('are refused here at once and told to others, until they would have expired', async () => {
    const expiresAtMs = NOW_MS + 500;
    await keys.endSession(keyDigest('session'), expiresAtMs);
    expect(table.ended).toEqual([{ sha256: keyDigest('session'), endedAtMs: NOW_MS, expiresAtMs }]);
    table.ended = [];
    expect([keys.isEnded('session'), keys.isEnded('another')]).toEqual([true, false]);
    jest.setSystemTime(expiresAtMs - 1);
    await keys.refresh();
    expect(keys.isEnded('session')).toBe(true);
    jest.setSystemTime(expiresAtMs);
    await keys.refresh();
    expect(keys.isEnded('session')).toBe(false);
  });

  it('are read again from 10 minutes before the last of them', async () => {
    const session = (text: string, endedAtMs: number) => ({
      ...{ sha256: keyDigest(text), endedAtMs, expiresAtMs: NOW_MS + 500 },
    });
    table.ended = [session('late', NOW_MS), session('early', NOW_MS - 100)];
    await keys.refresh();
    await keys.refresh();
    expect(table.fromMs).toEqual([-600_000, NOW_MS - 600_000]);
    expect([keys.isEnded('late'), keys.isEnded('early')]).toEqual([true, true]);
  });
});

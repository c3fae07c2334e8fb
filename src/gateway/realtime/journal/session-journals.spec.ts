import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ownerOf } from '../../../../test/support/live-session.js';
import { type SettingPath, settingsFrom } from '../../../platform/config/settings.js';
import { type RedisLink } from '../../../platform/redis/redis.module.js';
import { type JournaledSession } from './session-journal.js';
import { SessionJournals } from './session-journals.js';
import { type AdoptedSession, secretDigest } from './session-state.js';

const ID = 'sess_0123456789abcdef01234567';
const TTL_MS = 330_000;
const OWNER = ownerOf('t');
const turn = () => jest.advanceTimersByTimeAsync(0);

let warned: jest.SpiedFunction<Logger['warn']>;
beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
  warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  jest.spyOn(Logger.prototype, 'log').mockReturnValue();
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** The journals of a gateway; `redis` says what its Redis does. */
function gateway(values: Partial<Record<SettingPath, number>> = {}) {
  const seen: string[] = [];
  const redis = { isAway: false, found: null as unknown };
  const answer = <T>(call: string, value: T): Promise<T> => {
    seen.push(call);
    return redis.isAway ? Promise.reject(new Error('away')) : Promise.resolve(value);
  };
  const idOf = (key: unknown) => /\{(.*)\}/.exec(String(key))![1]!;
  const client = {
    defineCommand: () => undefined,
    ping: () => answer('ping', 'PONG'),
    journalWrite: (key: string, ...args: unknown[]) =>
      answer(`write ${idOf(key)} ${String(args[3])} ${String(args[4])}`, 1),
    journalForget: (key: string) => answer(`forget ${idOf(key)}`, 0),
    journalAdoptBuffer: (...args: string[]) =>
      answer(`adopt ${args.slice(4).join(' ')}`, redis.found),
  };
  const journals = new SessionJournals(
    { commands: () => client } as unknown as RedisLink,
    settingsFrom(values),
  );
  const delivered: string[] = [];
  /** A session with a journal; its event is delivered when it is written. */
  const begin = (id: string, adopted?: AdoptedSession) => {
    const session = {
      id,
      state: { input: {} },
      past: { events: [], audio: [] },
      deliver: () => delivered.push(id),
      taken: () => undefined,
    } as unknown as JournaledSession;
    const journal = journals.open(session, adopted);
    journal?.event({ id: 'e', json: '{}' });
    return journal;
  };
  const happened = () => seen.splice(0);
  return { journals, redis, begin, happened, delivered };
}
/** Redis is away, and a session has noticed. */
async function away() {
  const all = gateway();
  all.redis.isAway = true;
  const journal = all.begin('lost')!;
  await turn();
  expect(all.happened()).toEqual([`write lost 1 ${TTL_MS}`]);
  return { ...all, journal };
}

describe('journals of sessions', () => {
  it('are written while Redis answers, and stay for as long as a client may be silent', async () => {
    const { begin, happened, delivered } = gateway();
    begin('a')!.stop(true);
    begin('b');
    await turn();
    expect(happened()).toEqual([`write b 1 ${TTL_MS}`]);
    expect(delivered).toEqual(['a', 'b']);
  });

  it('are none where no session is resumed, or there is no Redis', async () => {
    expect(gateway({ 'realtime.resume_window_ms': 0 }).begin('a')).toBeUndefined();
    const link = { commands: () => undefined } as unknown as RedisLink;
    const journals = new SessionJournals(link, settingsFrom({}));
    expect(journals.open({} as JournaledSession, undefined)).toBeUndefined();
    expect(await journals.adopt(ID, 'secret', OWNER)).toBeUndefined();
  });

  it('of a session that was taken over continue', async () => {
    const { begin, happened } = gateway();
    begin('a', { state: {} as never, events: [], audio: [] });
    await turn();
    expect(happened()).toEqual([`write a 0 ${TTL_MS}`]);
  });

  it('of ended sessions are deleted', async () => {
    const { begin, happened } = gateway();
    const journal = begin('a')!;
    await turn();
    happened();
    journal.stop(false);
    expect(happened()).toEqual(['forget a']);
  });

  it.each([
    ['of another version', { v: 2 }],
    ['that has ended', { expiresAtMs: 1_000_000 }],
  ])('are not continued when they are of a session %s', async (_, changed) => {
    const { journals, redis, happened } = gateway();
    const found = (state: object) => [Buffer.from(JSON.stringify(state)), [], []];
    const state = { v: 1, expiresAtMs: 1_000_001 };
    redis.found = found(state);
    expect(await journals.adopt(ID, 'secret', OWNER)).toEqual({ state, events: [], audio: [] });
    expect(happened()).toEqual([`adopt t ${secretDigest('secret')}`]);
    redis.found = found({ ...state, ...changed });
    expect(await journals.adopt(ID, 'secret', OWNER)).toBeUndefined();
    redis.found = null;
    expect(await journals.adopt(ID, 'secret', OWNER)).toBeUndefined();
    happened();
    expect(await journals.adopt('sess_1', 'secret', OWNER)).toBeUndefined();
    expect(happened()).toEqual([]);
    redis.isAway = true;
    expect(await journals.adopt(ID, 'secret', OWNER)).toBeUndefined();
  });
});

describe('while Redis is away', () => {
  it('sessions do not wait for it, and it is asked every second', async () => {
    const { begin, happened, delivered } = await away();
    begin('new');
    expect(delivered).toEqual(['lost', 'new']);
    await jest.advanceTimersByTimeAsync(999);
    expect(happened()).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(happened()).toEqual(['ping']);
    await jest.advanceTimersByTimeAsync(1000);
    expect(happened()).toEqual(['ping']);
    expect(warned).toHaveBeenCalledTimes(1);
  });

  it('ended sessions are noted, and deleted when it is back; the others are written anew', async () => {
    const { begin, redis, journal, happened } = await away();
    begin('new');
    journal.stop(false);
    await turn();
    expect(happened()).toEqual(['forget lost']);
    redis.isAway = false;
    await jest.advanceTimersByTimeAsync(1000);
    expect(happened()).toEqual(['ping', `write new 1 ${TTL_MS}`, 'forget lost']);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(happened()).toEqual([]);
    begin('later');
    await turn();
    expect(happened()).toEqual([`write later 1 ${TTL_MS}`]);
    redis.isAway = true;
    begin('lost again');
    await turn();
    redis.isAway = false;
    happened();
    await jest.advanceTimersByTimeAsync(2000);
    expect(happened()).toEqual(['ping', `write lost again 1 ${TTL_MS}`]);
  });

  it('it is noticed when an ended session cannot be deleted', async () => {
    const { begin, redis, happened } = gateway();
    const journal = begin('a')!;
    await turn();
    redis.isAway = true;
    journal.stop(false);
    await turn();
    redis.isAway = false;
    happened();
    await jest.advanceTimersByTimeAsync(1000);
    expect(happened()).toEqual(['ping', 'forget a']);
  });

  it('ended sessions are forgotten when Redis itself has deleted them', async () => {
    const { redis, journal, happened } = await away();
    journal.stop(false);
    await jest.advanceTimersByTimeAsync(TTL_MS);
    redis.isAway = false;
    happened();
    await jest.advanceTimersByTimeAsync(1000);
    expect(happened()).toEqual(['ping']);
  });

  it('it is asked ever more seldom when it fails again soon, up to once a minute', async () => {
    const { begin, redis, happened } = await away();
    const pauses: number[] = [];
    for (let time = 0; time < 8; time += 1) {
      redis.isAway = false;
      let waitedMs = 0;
      while (!happened().includes('ping')) {
        await jest.advanceTimersByTimeAsync(1000);
        waitedMs += 1000;
      }
      pauses.push(waitedMs);
      if (time === 7) await jest.advanceTimersByTimeAsync(60_000);
      redis.isAway = true;
      begin(`s${time}`);
      await turn();
      happened();
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map(s => s * 1000));
    await jest.advanceTimersByTimeAsync(1000);
    expect(happened()).toEqual(['ping']);
  });

  it('it is not asked any more after the end', async () => {
    const { journals, happened } = await away();
    journals.onApplicationShutdown();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(happened()).toEqual([]);
  });
});

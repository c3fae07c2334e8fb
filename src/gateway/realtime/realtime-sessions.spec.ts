import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import {
  FRAME,
  liveServices,
  ownerOf,
  resumeOf,
  scriptedClient,
  turns,
  wanted,
} from '../../../test/support/live-session.js';
import { type Authenticator } from '../../platform/auth/authenticator.js';
import { type KeyRing } from '../../platform/auth/key-ring.js';
import { type Principal } from '../../platform/auth/principal.js';
import { type ShutdownGrace } from '../lifecycle/shutdown-drain.js';
import { type SessionJournals } from './journal/session-journals.js';
import { type AdoptedSession } from './journal/session-state.js';
import { RealtimeSessions } from './realtime-sessions.js';

const QUIET_MS = 10_000;
const ID = 'sess_0123456789abcdef01234567';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => void jest.useRealTimers());

/** A gateway with room for two live sessions, and `leftMs` of its time when it ends. */
function gateway({ leftMs = 10_000 } = {}) {
  const use = liveServices({ 'realtime.max_sessions': 2 });
  const changed$ = new Subject<void>();
  const withdrawn = new Set<Principal>();
  const awaited: Promise<unknown>[] = [];
  const state = { adopted: () => undefined as AdoptedSession | undefined };
  const sessions = new RealtimeSessions(
    use.services,
    {
      open: () => undefined,
      adopt: () => Promise.resolve(state.adopted()),
    } as unknown as SessionJournals,
    {
      leftMs: () => leftMs,
      waitFor: (work: Promise<unknown>) => awaited.push(work),
    } as unknown as ShutdownGrace,
    { changed$ } as unknown as KeyRing,
    { isCurrent: (owner: Principal) => !withdrawn.has(owner) } as unknown as Authenticator,
  );
  sessions.onModuleInit();
  /** A session whose client is connected. */
  const open = (tenant: string, model?: string) => {
    const owner = ownerOf(tenant);
    const live = sessions.create(wanted(owner, model));
    const client = scriptedClient();
    live.begin(client.socket, 'session.created', []);
    const { secret } = resumeOf(client.seen[0]);
    client.types();
    return { live, client, owner, secret };
  };
  return { ...use, sessions, changed$, withdrawn, awaited, state, open };
}
const REFUSED = expect.objectContaining({ code: 'queue_full', retryAfterMs: 1000 });
const UNKNOWN = expect.objectContaining({ code: 'session_not_found' });

describe('room for live sessions', () => {
  it('is taken by a session until it ends, and by no question for it', async () => {
    const { sessions, open } = gateway();
    const owner = ownerOf('a');
    for (let time = 0; time < 3; time += 1) sessions.demandRoom(owner, true);
    const { live } = open('a');
    open('a');
    expect(() => sessions.demandRoom(owner, true)).toThrow(REFUSED);
    expect(() => open('a')).toThrow(REFUSED);
    expect(sessions.all()).toHaveLength(2);
    await live.end(1000, 'bye');
    expect(sessions.all()).toHaveLength(1);
    sessions.demandRoom(owner, true);
  });

  it('is made by the session whose client is away for longest, and not for one that comes back', async () => {
    const { sessions, open } = gateway();
    const [first, second] = [open('a'), open('a')];
    second.client.gone(false);
    jest.advanceTimersByTime(100);
    first.client.gone(false);
    sessions.demandRoom(ownerOf('a'), false);
    await turns();
    expect(sessions.all()).toHaveLength(2);
    sessions.demandRoom(ownerOf('a'), true);
    await turns();
    expect(sessions.all()).toEqual([first.live]);
  });

  it('is made for another tenant by a session that is quiet', () => {
    const { sessions, open } = gateway();
    const [first, second] = [open('a'), open('a')];
    expect(() => open('b')).toThrow(REFUSED);
    jest.advanceTimersByTime(QUIET_MS);
    first.client.text('input_audio_buffer.clear');
    first.client.types();
    open('b');
    expect(second.client.types()).toEqual(['closed 1013 its place was needed while it was quiet ']);
    expect(first.client.types()).toEqual([]);
    expect(sessions.all()).toHaveLength(2);
  });

  it('is none when the gateway ends', () => {
    const { sessions } = gateway();
    sessions.onModuleDestroy();
    expect(() => sessions.demandRoom(ownerOf('a'), true)).toThrow(
      expect.objectContaining({ code: 'shutting_down' }),
    );
  });
});

describe('a live session', () => {
  it('is found by its id, its secret and its tenant', async () => {
    const { sessions, open } = gateway();
    const { live, owner, secret } = open('a');
    expect(sessions.find(live.id, secret, owner)).toBe(live);
    expect(await sessions.findAnywhere(live.id, secret, owner)).toBe(live);
    for (const [id, given, tenant] of [
      [ID, secret, 'a'],
      [live.id, 'wrong', 'a'],
      [live.id, secret, 'b'],
    ] as const) {
      expect(() => sessions.find(id, given, ownerOf(tenant))).toThrow(UNKNOWN);
      await expect(sessions.findAnywhere(id, given, ownerOf(tenant))).rejects.toThrow(UNKNOWN);
    }
  });

  it('of another gateway is continued here, once', async () => {
    const { sessions, state } = gateway();
    const input = { uncommittedBytes: 0 };
    const items = { next: 0, finals: 0, segments: 0, lastItemId: null, open: [] };
    const { config, dialect } = wanted(ownerOf('a'));
    const expiresAtMs = Date.now() + 50_000;
    const adopted = { state: { config, dialect, expiresAtMs, sent: 0, input, items } };
    state.adopted = () => ({ ...adopted, events: [], audio: [] }) as unknown as AdoptedSession;
    const find = () => sessions.findAnywhere(ID, 'secret', ownerOf('a'));
    const [first, second] = await Promise.all([find(), find()]);
    expect([first.id, first.connection.isQuiet]).toEqual([ID, true]);
    expect(second).toBe(first);
    expect(sessions.all()).toEqual([first]);
    jest.advanceTimersByTime(30_000);
    expect(sessions.all()).toEqual([]);
  });

  it('is counted for its model while it holds a slot', () => {
    const { sessions, open } = gateway();
    open('a').client.binary(FRAME);
    const { client } = open('a');
    expect([...sessions.countByModel()]).toEqual([['stt', 1]]);
    client.binary(FRAME);
    expect([...sessions.countByModel()]).toEqual([['stt', 2]]);
  });

  it('ends with its key', async () => {
    const { sessions, open, changed$, withdrawn } = gateway();
    const [first, second] = [open('a'), open('a')];
    withdrawn.add(first.owner);
    changed$.next();
    expect(first.client.types()).toEqual(['error', 'closed 1008 invalid_api_key ']);
    expect(second.client.types()).toEqual([]);
    await turns();
    withdrawn.add(second.owner);
    sessions.onApplicationShutdown();
    expect(changed$.observed).toBe(false);
  });

  it.each([
    [10_000, 8000, 2000],
    [4000, 3000, 1000],
  ])(
    'has all but the close of what is left when the gateway ends: %i ms',
    async (leftMs, flushMs, closeMs) => {
      const { sessions, open, awaited } = gateway({ leftMs });
      const { client } = open('a');
      client.binary(FRAME);
      sessions.onModuleDestroy();
      expect(client.types()).toEqual(['session_ending']);
      jest.advanceTimersByTime(flushMs - 1);
      await turns();
      expect(client.types()).toEqual([]);
      jest.advanceTimersByTime(1);
      await Promise.all(awaited);
      expect(client.types()).toEqual([`closed 1001 the server is shutting down ${closeMs}`]);
      expect(awaited).toHaveLength(1);
    },
  );
});

describe('a slot of a model', () => {
  it('is to come while the worker has not ended the stream of a session', async () => {
    const { sessions, open, opened } = gateway();
    const { live, client } = open('a');
    client.binary(FRAME);
    opened[0]!.isSlow = true;
    void live.end(1000, 'bye');
    await turns();
    expect([sessions.slotComing('stt'), sessions.slotComing('other')]).toEqual([true, false]);
    opened[0]!.end();
    await turns();
    expect(sessions.slotComing('stt')).toBe(false);
  });

  it('is to come of a session that holds one while its client is away', () => {
    const { sessions, open } = gateway();
    const [idle, live] = [open('a'), open('a')];
    live.client.binary(FRAME);
    expect(sessions.slotComing('stt')).toBe(false);
    idle.client.gone(false);
    expect(sessions.slotComing('stt')).toBe(false);
    live.client.gone(false);
    expect(sessions.slotComing('other')).toBe(false);
    expect(sessions.slotComing('stt')).toBe(true);
    expect(sessions.all()).toEqual([idle.live]);
  });
});

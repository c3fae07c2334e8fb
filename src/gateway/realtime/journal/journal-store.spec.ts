import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../../test/support/requires.js';
import { JournalStore } from './journal-store.js';
import { type JournalAudio, type SessionState } from './session-state.js';

const STATE = { tenant: 't', secretSha256: 'digest', sent: 1 } as unknown as SessionState;
const eventOf = (id: string) => ({ id, json: JSON.stringify({ event_id: id }) });
const audioOf = (start: number, ...bytes: number[]): JournalAudio => ({
  start,
  pcm: Buffer.from(bytes),
});
const KEYS = ['p:realtime:{s}', 'p:realtime:{s}:events', 'p:realtime:{s}:audio'];

describeWith(REDIS)('sessions in Redis', () => {
  let server: RedisServer;
  const clients: Redis[] = [];
  let own: JournalStore;
  let other: JournalStore;

  beforeEach(async () => {
    server = await RedisServer.start();
    [own, other] = ['own', 'other'].map(owner => {
      const client = new Redis(server.url);
      clients.push(client);
      return new JournalStore(client, { prefix: 'p', owner, ttlMs: 60_000 });
    }) as [JournalStore, JournalStore];
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await server[Symbol.asyncDispose]();
  });

  const write = (store: JournalStore, given: Partial<Parameters<JournalStore['write']>[1]> = {}) =>
    store.write('s', {
      first: false,
      state: STATE,
      events: [],
      dropEvents: 0,
      dropAudio: 0,
      audio: undefined,
      ...given,
    });

  it('are those of one gateway, until another one that knows the secret takes them over', async () => {
    await own.ping();
    expect(await write(own)).toBe('gone');
    const events = [eventOf('e1'), eventOf('e2')];
    expect(await write(own, { first: true, events, audio: audioOf(0, 1, 2) })).toBe('written');
    expect(await write(own, { events: [eventOf('e3')], audio: audioOf(2, 3, 4) })).toBe('written');
    expect(await write(other)).toBe('taken');
    expect(await write(other, { first: true })).toBe('taken');
    expect(await other.adopt('s', 't', 'wrong')).toBeUndefined();
    expect(await other.adopt('s', 'u', 'digest')).toBeUndefined();
    expect(await other.adopt('none', 't', 'digest')).toBeUndefined();
    expect(await other.adopt('s', 't', 'digest')).toEqual({
      state: STATE,
      events: [...events, eventOf('e3')],
      audio: [audioOf(0, 1, 2), audioOf(2, 3, 4)],
    });
    expect(await write(own)).toBe('taken');
    expect(await write(other)).toBe('written');
  });

  it('hold no more than a client may still need, and not for ever', async () => {
    const events = ['e1', 'e2', 'e3'].map(eventOf);
    await write(own, { first: true, events, audio: audioOf(0, 1) });
    await write(own, { dropEvents: 2, dropAudio: 1, audio: audioOf(1, 2) });
    expect(await own.adopt('s', 't', 'digest')).toMatchObject({
      events: [eventOf('e3')],
      audio: [audioOf(1, 2)],
    });
    for (const key of KEYS) expect(await clients[0]!.pttl(key)).toBeGreaterThan(50_000);
    await write(own, { first: true, events: [eventOf('e4')] });
    expect(await own.adopt('s', 't', 'digest')).toMatchObject({
      events: [eventOf('e4')],
      audio: [],
    });
  });

  it('are deleted by their own gateway only', async () => {
    await write(own, { first: true, events: [eventOf('e1')], audio: audioOf(0, 1) });
    await other.forget('s');
    expect(await clients[0]!.exists(...KEYS)).toBe(3);
    await own.forget('s');
    expect(await clients[0]!.exists(...KEYS)).toBe(0);
  });

  it('are not stored while Redis does not answer', async () => {
    await own.ping();
    clients[0]!.disconnect();
    await expect(own.ping()).rejects.toThrow();
  });
});

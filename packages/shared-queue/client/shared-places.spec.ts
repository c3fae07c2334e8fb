import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Redis } from 'ioredis';
import { redisClient } from '../../../test/support/redis-client.js';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { pause, until } from '../../../test/support/waiting.js';
import { HEARTBEAT_MS } from '../heartbeat.js';
import { QueueJobClass, QueueKeys } from '../keys.js';
import { RedisOrder } from '../order/redis-order.js';
import { RedisClock } from '../redis-clock.js';
import { type Grant, type Place, SharedPlaces, type SlotAccount } from './shared-places.js';

const { REALTIME, BATCH } = QueueJobClass;
const MODEL = 'm';

const account = (name: string, credits: number, rest: Partial<SlotAccount> = {}): SlotAccount => ({
  ...{ account: name, credits, overdraft: 0, extra: 0, ...rest },
});
const ids = (grants: readonly Grant[]): string[] => grants.map(({ id }) => id.split('.')[1]!);

describeWith(REDIS)('SharedPlaces', () => {
  const keys = new QueueKeys('p');
  let server: RedisServer;
  let redis: Redis;
  let listener: Redis;
  let nth = 0;
  beforeAll(async () => {
    server = await RedisServer.start();
    redis = redisClient(server.url);
    listener = redis.duplicate();
  });
  beforeEach(() => redis.flushdb());
  afterAll(async () => {
    redis.disconnect();
    listener.disconnect();
    await server[Symbol.asyncDispose]();
  });

  /** A gateway that can send to these. */
  async function gateway(name: string, accounts: readonly SlotAccount[]): Promise<SharedPlaces> {
    const access = { agingMs: 30_000, agingShare: 0.25, lockMs: 1, resultTtlMs: 1 };
    const places = new SharedPlaces(
      {
        ...{
          answeredMs: 1000,
          keys,
          redis,
          access,
          clock: new RedisClock(),
          listener: () => listener,
        },
        failure: error => error as Error,
      },
      name,
    );
    await places.beat(MODEL, accounts, true);
    return places;
  }
  const idOf = (name: string): string => `${keys.job(name, undefined)}.1`;
  const enter = async (by: SharedPlaces, name: string, place: Partial<Place> = {}) =>
    by.enter(MODEL, {
      ...{ id: idOf(name), class: BATCH, sinceMs: Date.now() + (nth += 1), shown: {} },
      ...{ costMs: 1, prefer: [], avoid: [], mostTogether: undefined },
      ...{ weight: 1, isReturned: false, ...place },
    });
  const leave = async (by: SharedPlaces, name: string) => ids(await by.leave(MODEL, [idOf(name)]));

  it('grants while a slot is free, the next one when a slot comes back, and of two gateways to whoever has it', async () => {
    const [a, b] = [await gateway('a', [account('w', 2)]), await gateway('b', [account('w', 2)])];
    const heard: Grant[] = [];
    b.granted$.subscribe(grant => heard.push(grant));
    b.listen(MODEL);
    await pause(50);
    expect(ids(await enter(a, 'r1'))).toEqual(['r1']);
    expect(ids(await enter(b, 'r2'))).toEqual(['r2']);
    expect(ids(await enter(b, 'r3'))).toEqual([]);
    expect(ids(await enter(a, 'r4'))).toEqual([]);
    expect(await leave(a, 'r1')).toEqual([]);
    await pause(50);
    expect(ids(heard)).toEqual(['r3']);
    expect(await leave(a, 'r1')).toEqual([]);
    expect(ids((await b.beat(MODEL, [account('w', 2)], false)).held).sort()).toEqual(['r2', 'r3']);
    expect(ids(await b.leave(MODEL, [idOf('r2')]))).toEqual([]);
    expect(ids((await a.beat(MODEL, [account('w', 2)], false)).held)).toEqual(['r4']);
  });

  it('a capacity that shrinks is paid back before anything is granted, one that grows is used', async () => {
    const a = await gateway('a', [account('w', 3)]);
    for (const name of ['r1', 'r2', 'r3', 'r4']) await enter(a, name);
    await a.beat(MODEL, [account('w', 1)], false);
    expect([await leave(a, 'r1'), await leave(a, 'r2')]).toEqual([[], []]);
    expect(await leave(a, 'r3')).toEqual(['r4']);
    await enter(a, 'r5');
    expect(ids((await a.beat(MODEL, [account('w', 2)], false)).granted)).toEqual(['r5']);
  });

  it('tells every gateway what waits, by class, and what runs at all of them', async () => {
    const [a, b] = [await gateway('a', [account('w', 2)]), await gateway('b', [account('w', 2)])];
    for (const name of ['r1', 'r2', 'r3']) await enter(a, name);
    for (const name of ['u1', 'u2']) await enter(b, name, { class: REALTIME });
    await enter(b, 'r4');
    const { all } = await a.beat(MODEL, [account('w', 2)], false);
    expect(all).toEqual({ realtime: 2, batch: 2, running: 2 });
    await leave(a, 'r1');
    await leave(b, 'r4');
    expect((await b.beat(MODEL, [account('w', 2)], false)).all).toEqual({
      ...{ realtime: 1, batch: 1, running: 2 },
    });
  });

  it('passes by what waits at a gateway that reaches no worker, until it reaches one; its age is kept', async () => {
    const w = [account('w', 1)];
    const [a, b] = [await gateway('a', []), await gateway('b', w)];
    for (const name of ['r1', 'r2', 'r3', 'r4']) await enter(a, name);
    expect(ids(await enter(b, 'r5'))).toEqual(['r5']);
    await enter(b, 'r6');
    await enter(b, 'r7');
    expect(await leave(b, 'r5')).toEqual(['r6']);
    expect((await b.beat(MODEL, w, false)).all).toEqual({ realtime: 0, batch: 5, running: 1 });
    const order = new RedisOrder({ redis, keys, agingMs: 30_000, agingShare: 0.25 });
    const { parked } = await order.accounts(MODEL);
    expect(parked.toSorted()).toEqual(['r1', 'r2', 'r3', 'r4'].map(idOf));
    await a.leave(MODEL, [idOf('r2')]);
    await a.beat(MODEL, w, false);
    expect(await leave(b, 'r6')).toEqual([]);
    expect(ids((await a.beat(MODEL, w, false)).held)).toEqual(['r1']);
    expect(await leave(a, 'r1')).toEqual(['r3']);
    await a.beat(MODEL, [], false);
    expect(await leave(a, 'r3')).toEqual([]);
    expect(ids((await b.beat(MODEL, w, false)).held)).toEqual(['r7']);
    // What a gateway that has died had waiting is nobody's.
    await a.close(MODEL);
    expect((await b.beat(MODEL, w, false)).all).toEqual({ realtime: 0, batch: 0, running: 1 });
    expect(await redis.keys('*parked*')).toEqual([]);
  });

  it('counts what a gateway has there that nobody granted', async () => {
    const a = await gateway('a', [account('w', 2, { extra: 1 })]);
    const b = await gateway('b', [account('w', 2)]);
    expect(ids(await enter(b, 'r1'))).toEqual(['r1']);
    expect(ids(await enter(b, 'r2'))).toEqual([]);
    await a.beat(MODEL, [account('w', 2)], true);
    expect(ids((await b.beat(MODEL, [account('w', 2)], false)).held).sort()).toEqual(['r1', 'r2']);
  });

  it('gives REALTIME the overdraft, BATCH not, and nobody more', async () => {
    const a = await gateway('a', [account('w', 1, { overdraft: 1 })]);
    expect(ids(await enter(a, 'b1'))).toEqual(['b1']);
    expect(ids(await enter(a, 'b2'))).toEqual([]);
    expect(ids(await enter(a, 'u1', { class: REALTIME }))).toEqual(['u1']);
    expect(ids(await enter(a, 'u2', { class: REALTIME }))).toEqual([]);
    expect(await leave(a, 'b1')).toEqual(['u2']);
  });

  it('sends to the favourite while it is not clearly fuller, and not to what is to be avoided', async () => {
    const a = await gateway('a', [account('w1', 4), account('w2', 4)]);
    const at = async (name: string, place: Partial<Place>): Promise<string | undefined> =>
      (await enter(a, name, place))[0]?.account;
    const prefer = { prefer: ['w2', 'w1'] };
    expect([await at('r1', prefer), await at('r2', prefer), await at('r3', prefer)]).toEqual([
      ...['w2', 'w2', 'w1'],
    ]);
    expect(await at('r4', { ...prefer, avoid: ['w2'] })).toBe('w1');
  });

  it('sends to the avoided one where there is no other', async () => {
    const a = await gateway('a', [account('w1', 1)]);
    expect(ids(await enter(a, 'r1', { avoid: ['w1'] }))).toEqual(['r1']);
  });

  it('lets a suspect run beside its like only, and nothing before it', async () => {
    const a = await gateway('a', [account('w', 4)]);
    await enter(a, 'r1');
    expect(ids(await enter(a, 's1', { mostTogether: 2 }))).toEqual([]);
    expect(ids(await enter(a, 'r2'))).toEqual([]);
    expect(await leave(a, 'r1')).toEqual(['s1']);
    expect(await leave(a, 's1')).toEqual(['r2']);
    expect(ids(await enter(a, 's2', { mostTogether: 2 }))).toEqual([]);
    expect(ids(await enter(a, 's3', { mostTogether: 2 }))).toEqual([]);
    expect(await leave(a, 'r2')).toEqual(['s2', 's3']);
  });

  it('frees what a gateway had that died, when one sees it that was there all the time', async () => {
    const [a, b] = [await gateway('a', [account('w', 1)]), await gateway('b', [account('w', 1)])];
    await enter(a, 'r1');
    await enter(b, 'r2');
    const late = async (by: SharedPlaces) => by.beat(MODEL, [account('w', 1)], false);
    await pause(4 * HEARTBEAT_MS);
    // It has just come: it cannot know who was there.
    const c = await gateway('c', [account('w', 1)]);
    expect((await late(c)).gateways).toBe(3);
    const granted: Grant[] = [];
    const isGone = async (): Promise<boolean> => {
      await pause(HEARTBEAT_MS / 4);
      const beats = [await late(b), await late(c)];
      granted.push(...beats[0]!.held);
      return beats[1]!.gateways === 2;
    };
    await until(isGone, { limitMs: 30_000 });
    await isGone();
    expect(ids(granted)).toContain('r2');
    expect((await late(a)).isKnown).toBe(false);
  });

  it('grants nothing for a while when Redis lost its memory under somebody who runs something', async () => {
    const a = await gateway('a', [account('w', 2)]);
    await enter(a, 'r1');
    await redis.flushdb();
    const beat = await a.beat(MODEL, [account('w', 2, { extra: 1 })], false);
    expect([beat.isKnown, beat.waits]).toEqual([false, true]);
    expect(ids(await enter(a, 'r2'))).toEqual([]);
  });
});

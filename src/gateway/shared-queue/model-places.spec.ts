import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  type Beat,
  type Grant,
  type SharedPlaces,
} from '@switchyard/shared-queue/client/shared-places.js';
import { HEARTBEAT_MS } from '@switchyard/shared-queue/heartbeat.js';
import { QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { aKey } from '../../../test/support/requests.js';
import { Lease } from '../../core/dispatch/lease.js';
import { type SharedSlots } from '../worker-pool/shared-slots.js';
import { rankOf } from '../worker-pool/worker-choice.js';
import { ModelPlaces, type Waiter } from './model-places.js';

Logger.overrideLogger(false);

const KNOWN: Beat = {
  ...{ isKnown: true, waits: false, gateways: 2, number: 0, held: [], granted: [] },
  all: { realtime: 3, batch: 4, running: 5 },
};
const slotsAt = (name: string, fields: Partial<SharedSlots> = {}): SharedSlots => ({
  ...{ workerId: `w-${name}`, account: `a-${name}`, credits: 5, overdraft: 1, inUse: 1 },
  ...{ measuresAll: false, ...fields },
});
const offered = (workerId: string, free: number) => ({
  ...{ workerId, free, urgent: free + 1, idle: false, maxBatch: 1 },
});
const waiter = (id: string, fields: Partial<Waiter> = {}): Waiter => ({ key: aKey(id), ...fields });
const settled = () => new Promise(setImmediate);
const none = (): Promise<readonly Grant[]> => Promise.resolve([]);

describe('the places of a gateway in the order of a model', () => {
  let slots: SharedSlots[];
  let waiting: Waiter[];
  let isUsable: boolean;
  let nowMs: number;
  let made: number;
  let answer: Beat;
  const onDue = jest.fn();
  const redis = {
    enter: jest.fn<SharedPlaces['enter']>(),
    leave: jest.fn<SharedPlaces['leave']>(),
    beat: jest.fn<SharedPlaces['beat']>(),
  };
  let places: ModelPlaces<Waiter>;

  beforeEach(() => {
    for (const mock of [onDue, redis.enter, redis.leave, redis.beat]) mock.mockReset();
    [slots, waiting, isUsable] = [[slotsAt('1')], [], true];
    [nowMs, made, answer] = [1000, 0, KNOWN];
    redis.enter.mockImplementation(none);
    redis.leave.mockImplementation(none);
    redis.beat.mockImplementation(() => Promise.resolve(answer));
    places = new ModelPlaces<Waiter>('m', {
      ...{ slots: () => slots, waiting: () => waiting, onDue, nowMs: () => nowMs },
      ...{ places: redis as unknown as SharedPlaces, usable: () => isUsable },
      placeOf: ({ key }) => ({
        id: `${key}.${++made}`,
        class: key === aKey('urgent') ? QueueJobClass.REALTIME : QueueJobClass.BATCH,
        ...{ sinceMs: 0, costMs: 1, weight: 1, mostTogether: undefined, isReturned: false },
        shown: {},
      }),
    });
  });

  const idOf = (id: string, nth = 1): string => `${aKey(id)}.${nth}`;
  const grant = (id: string, account = 'a-1'): Grant => ({ id, account });
  const enter = (id: string, fields?: Partial<Waiter>) => places.enter(waiter(id, fields));
  /** Redis decides from here on; `id` waits, and was granted a slot. */
  async function granted(id = 'r') {
    await places.beat();
    redis.enter.mockResolvedValueOnce([grant(idOf(id, made + 1))]);
    await enter(id);
    return [...places.granted()];
  }
  const entered = () => redis.enter.mock.calls.map(([, { id, isReturned }]) => [id, isReturned]);

  it('are told to Redis once it has the order, and not before', async () => {
    answer = { ...KNOWN, waits: true };
    await enter('r');
    waiting = [waiter('r')];
    await places.beat();
    expect(redis.enter).not.toHaveBeenCalled();
    expect([places.isShared, places.elsewhere]).toEqual([false, undefined]);
    answer = KNOWN;
    await places.beat();
    expect([entered(), places.isShared]).toEqual([[[idOf('r', 2), false]], true]);
    await places.beat();
    expect(redis.enter).toHaveBeenCalledTimes(1);
  });

  it('that are granted are sent once, and free their slot when they have ended', async () => {
    const [one, ...more] = await granted();
    expect([one?.key, one?.workerId, more]).toEqual([aKey('r'), 'w-1', []]);
    expect([...places.granted()]).toEqual([]);
    expect([onDue.mock.calls.length, places.keyOf(idOf('r'))]).toEqual([1, aKey('r')]);
    redis.leave.mockClear();
    places.left(aKey('r'));
    expect(redis.leave).not.toHaveBeenCalled();
    places.receive([grant(idOf('r'))]);
    expect([...places.granted()]).toEqual([]);
    one?.free();
    expect(redis.leave).toHaveBeenLastCalledWith('m', [idOf('r')]);
    expect(places.keyOf(idOf('r'))).toBeUndefined();
  });

  it('give a grant back that comes for what is gone, or left before it was sent', async () => {
    await places.beat();
    places.receive([grant('unknown.1')]);
    expect(redis.leave).toHaveBeenLastCalledWith('m', ['unknown.1']);
    expect(onDue).not.toHaveBeenCalled();
    await enter('r');
    places.receive([grant(idOf('r'))]);
    places.left(aKey('r'));
    places.left(aKey('r'));
    expect(redis.leave).toHaveBeenLastCalledWith('m', [idOf('r')]);
    expect(redis.leave.mock.calls.filter(([, [id]]) => id === idOf('r'))).toHaveLength(1);
    expect([...places.granted()]).toEqual([]);
  });

  it('are left for another one when their request enters again', async () => {
    await places.beat();
    for (let nth = 0; nth < 2; nth++) await enter('r');
    expect(redis.leave).toHaveBeenLastCalledWith('m', [idOf('r')]);
    expect([places.keyOf(idOf('r')), places.keyOf(idOf('r', 2))]).toEqual([undefined, aKey('r')]);
  });

  it('granted at a worker that went away meanwhile name none', async () => {
    await places.beat();
    redis.enter.mockResolvedValueOnce([grant(idOf('r'), 'a-gone')]);
    await enter('r');
    expect([...places.granted()]).toMatchObject([{ workerId: '' }]);
  });

  it('wait again when a grant came later than two heartbeats', async () => {
    await places.beat();
    [waiting, nowMs] = [[waiter('other'), waiter('r')], 2 * HEARTBEAT_MS];
    await enter('r');
    places.receive([grant(idOf('r'))], 0);
    expect([...places.granted()]).toHaveLength(1);
    await enter('r');
    nowMs += 1;
    places.receive([grant(idOf('r', 2))], 0);
    expect([[...places.granted()], entered().at(-1)]).toEqual([[], [idOf('r', 3), true]]);
    waiting = [];
    places.receive([grant(idOf('r', 3))], 0);
    expect(redis.enter).toHaveBeenCalledTimes(3);
  });

  it('are granted by heartbeats too: what is held and what is new', async () => {
    await places.beat();
    for (const id of ['one', 'two']) await enter(id);
    answer = { ...KNOWN, held: [grant(idOf('one'))], granted: [grant(idOf('two', 2))] };
    await places.beat();
    expect([...places.granted()].map(({ key }) => key)).toEqual([aKey('one'), aKey('two')]);
  });

  it('name at most eight favourites, best first, and the workers to avoid', async () => {
    slots = Array.from({ length: 10 }, (_, nth) => slotsAt(String(nth)));
    await places.beat();
    await enter('r', { affinity: 'start', avoid: ['w-3'] });
    await enter('s');
    const ranked = slots.toSorted(
      (a, b) => rankOf('start', b.workerId) - rankOf('start', a.workerId),
    );
    expect(redis.enter.mock.calls.map(([, { prefer, avoid }]) => ({ prefer, avoid }))).toEqual([
      { prefer: ranked.slice(0, 8).map(({ account }) => account), avoid: ['a-3'] },
      { prefer: [], avoid: [] },
    ]);
  });

  it('are those of others after what is here is taken off, never less than none', async () => {
    await granted();
    for (const id of ['urgent', 'plain', 'gone', 'more']) await enter(id);
    places.left(aKey('gone'));
    await places.beat();
    expect(places.elsewhere).toEqual({ realtime: 2, batch: 2, running: 4 });
    const empty = { realtime: 0, batch: 0, running: 0 };
    expect(places.without(empty)).toEqual(empty);
  });

  it('know whom they are sent to', () =>
    expect(['w-1', 'w-2'].map(id => places.sendsTo(id))).toEqual([true, false]));

  describe('while Redis fails', () => {
    const fails = (): void => void redis.beat.mockRejectedValue(new Error('away'));
    async function alone(): Promise<void> {
      fails();
      for (let nth = 0; nth < 3; nth++) await places.beat();
    }

    it('go on alone after three heartbeats without an answer, and say so once', async () => {
      await places.beat();
      isUsable = false;
      await places.beat();
      expect(places.isShared).toBe(false);
      await places.beat();
      expect([redis.beat.mock.calls.length, onDue.mock.calls.length]).toEqual([1, 0]);
      expect(places.limited(offered('w-1', 2))).toBeUndefined();
      for (let nth = 0; nth < 2; nth++) await places.beat();
      expect(onDue).toHaveBeenCalledTimes(1);
      expect(places.limited(offered('w-1', 2))).toBeDefined();
      isUsable = true;
      await places.beat();
      expect([places.isShared, places.limited(offered('w-1', 2))]).toEqual([true, undefined]);
    });

    it('count heartbeats without an answer from the last one that had one', async () => {
      for (const isAway of [true, true, false, true, true]) {
        isUsable = !isAway;
        await places.beat();
      }
      expect(onDue).not.toHaveBeenCalled();
    });

    it.each([
      ['the first of two has the odd slot', { number: 0 }, 9, 1, 2],
      ['the second has not', { number: 1 }, 9, 1, 1],
      ['no more than is offered', { number: 0 }, 1, 1, 1],
      ['nothing beyond its share', { number: 0 }, 9, 3, undefined],
      ['all of it where it is alone', { gateways: 1 }, 9, 0, 5],
    ])('send to their share: %s', async (_, peers, free, inUse, left) => {
      answer = { ...KNOWN, ...peers };
      await places.beat();
      await alone();
      slots = [slotsAt('0', { credits: 90 }), slotsAt('1', { inUse })];
      const limited = places.limited(offered('w-1', free));
      expect(limited).toEqual(
        left === undefined ? undefined : { ...offered('w-1', free), free: left, urgent: left },
      );
      expect(places.limited(undefined)).toBeUndefined();
      expect(places.limited(offered('w-unknown', 9))).toBeUndefined();
    });

    it('have all slots where no other gateway was heard of', async () => {
      await alone();
      expect(places.limited(offered('w-1', 9))?.free).toBe(4);
    });

    it('are asked for anew when Redis did not take one', async () => {
      await places.beat();
      redis.enter.mockRejectedValueOnce(new Error('away'));
      redis.beat.mockReturnValueOnce(new Promise(() => undefined));
      await enter('r');
      expect([places.isShared, redis.beat.mock.calls.length]).toEqual([false, 2]);
    });

    it('are left with the next heartbeat, once, where Redis did not hear it', async () => {
      await enter('early');
      places.left(aKey('early'));
      expect(redis.leave).not.toHaveBeenCalled();
      await places.beat();
      expect(redis.leave.mock.calls).toEqual([['m', [idOf('early')]]]);
      await enter('r');
      redis.leave.mockClear().mockRejectedValueOnce(new Error('away'));
      places.left(aKey('r'));
      await settled();
      await places.beat();
      expect(redis.leave.mock.calls.map(([, ids]) => ids)).toEqual([
        ...[[idOf('r', 2)], [idOf('r', 2)], []],
      ]);
    });
  });

  describe('whose grants Redis has forgotten', () => {
    const toldExtra = () => redis.beat.mock.calls.map(([, told]) => told.map(one => one.extra));

    it('are told at once as taken, wait anew, and are not left but told when they end', async () => {
      slots = [slotsAt('1'), slotsAt('2')];
      const [one] = await granted();
      waiting = [waiter('s')];
      redis.beat.mockResolvedValueOnce({ ...KNOWN, isKnown: false });
      redis.beat.mockClear();
      await places.beat();
      expect(toldExtra()).toEqual([
        [0, 0],
        [1, 0],
      ]);
      expect(entered().at(-1)).toEqual([idOf('s', 2), false]);
      redis.leave.mockClear();
      one?.free();
      expect([toldExtra().length, redis.leave.mock.calls]).toEqual([3, []]);
    });

    it('have nothing more to tell where nothing runs', async () => {
      answer = { ...KNOWN, isKnown: false };
      await places.beat();
      expect(redis.beat.mock.calls).toEqual([
        ['m', [{ account: 'a-1', credits: 5, overdraft: 1, extra: 0 }], true],
      ]);
    });

    it('are empty only while nothing runs, granted or not', async () => {
      await granted();
      await places.beat();
      expect(redis.beat.mock.lastCall?.[2]).toBe(false);
    });
  });

  describe('that nobody granted', () => {
    it('are told until each is released', async () => {
      const release = jest.fn();
      const leases = places.extra('w-1', [new Lease(release), new Lease(release)]);
      await places.beat();
      expect(redis.beat.mock.lastCall?.slice(1)).toMatchObject([[{ extra: 2 }], false]);
      leases[0]?.release();
      await settled();
      expect(release).toHaveBeenCalledTimes(1);
      expect(redis.beat.mock.lastCall?.[1]).toMatchObject([{ extra: 1 }]);
      leases[1]?.release();
      await settled();
      expect(redis.beat.mock.lastCall?.slice(1)).toMatchObject([[{ extra: 0 }], true]);
    });

    it('add up, at an account of their own', async () => {
      slots = [slotsAt('1'), slotsAt('2')];
      for (const id of ['w-1', 'w-2', 'w-2', 'w-none']) places.extra(id, [new Lease(undefined)]);
      await places.beat();
      expect(redis.beat.mock.lastCall?.[1]).toMatchObject([{ extra: 1 }, { extra: 2 }]);
    });
  });

  it('are told anew when slots change that were told, and Redis has the order', async () => {
    places.changed();
    expect(redis.beat).not.toHaveBeenCalled();
    await places.beat();
    places.changed();
    expect(redis.beat).toHaveBeenCalledTimes(1);
    slots = [slotsAt('1', { credits: 6 })];
    places.changed();
    expect(redis.beat).toHaveBeenCalledTimes(2);
  });

  it('are told once at a time', async () => {
    await Promise.all([places.beat(), places.beat()]);
    expect(redis.beat).toHaveBeenCalledTimes(1);
    await places.beat();
    expect(redis.beat).toHaveBeenCalledTimes(2);
  });

  it('refused by their worker wait again after the account is right', async () => {
    await places.beat();
    places.refused(waiter('r'));
    expect([redis.beat.mock.calls.length, redis.enter.mock.calls.length]).toEqual([2, 0]);
    await settled();
    expect(entered()).toEqual([[idOf('r'), true]]);
  });
});

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SharedPlaces } from '@switchyard/shared-queue/client/shared-places.js';
import { HEARTBEAT_MS } from '@switchyard/shared-queue/heartbeat.js';
import { QueueJobClass, QueueKeys } from '@switchyard/shared-queue/keys.js';
import { Subject } from 'rxjs';
import { aKey } from '../../../test/support/requests.js';
import { GatewayPlaces } from './gateway-places.js';
import { type Waiter } from './model-places.js';
import { type SharedQueueLink } from './shared-queue-link.js';

const KNOWN = {
  isKnown: true,
  waits: false,
  gateways: 1,
  number: 0,
  held: [],
  granted: [],
  all: { realtime: 0, batch: 0, running: 0 },
};

describe('the places of a gateway', () => {
  const back$ = new Subject<void>();
  const link = { enabled: true, usable: true, back$, keys: new QueueKeys('test') };
  const spies = {
    listen: jest.spyOn(SharedPlaces.prototype, 'listen'),
    beat: jest.spyOn(SharedPlaces.prototype, 'beat'),
    close: jest.spyOn(SharedPlaces.prototype, 'close'),
    settle: jest.spyOn(SharedPlaces.prototype, 'settle'),
    enter: jest.spyOn(SharedPlaces.prototype, 'enter'),
  };
  let all: GatewayPlaces;
  const onDue = jest.fn();

  beforeEach(() => {
    jest.useFakeTimers();
    for (const spy of Object.values(spies)) spy.mockReset();
    onDue.mockReset();
    spies.beat.mockResolvedValue(KNOWN);
    spies.enter.mockResolvedValue([]);
    for (const spy of [spies.close, spies.settle]) spy.mockResolvedValue();
    Object.assign(link, { enabled: true, usable: true });
    all = new GatewayPlaces({
      ...link,
      clock: { nowMs: () => 10_000 },
      get enabled() {
        return link.enabled;
      },
      get usable() {
        return link.usable;
      },
    } as unknown as SharedQueueLink);
    all.onApplicationBootstrap();
  });
  afterEach(async () => {
    await all.onApplicationShutdown();
    jest.useRealTimers();
  });

  const added = (name: string) =>
    all.add<Waiter>(name, {
      slots: () => [],
      waiting: () => [],
      onDue,
      placeOf: (_, id) => ({
        id: name,
        class: QueueJobClass.BATCH,
        sinceMs: 0,
        costMs: 1,
        weight: 1,
        mostTogether: undefined,
        isReturned: false,
        shown: { id },
      }),
    });
  const beats = () => spies.beat.mock.calls.map(([name]) => name);

  it('are told at once, with each heartbeat, and when Redis is back', async () => {
    added('one');
    added('two');
    expect([beats(), spies.listen.mock.calls]).toEqual([
      ['one', 'two'],
      [['one'], ['two']],
    ]);
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS);
    expect(beats()).toHaveLength(4);
    back$.next();
    expect(beats()).toHaveLength(6);
  });

  it('hear of grants of their model, as long ago as they were given', async () => {
    const granted = (model: string, id: string, atMs: number): void => {
      const { granted$ } = spies.listen.mock.contexts[0] as SharedPlaces;
      const { source } = granted$;
      (source as Subject<object>).next({ model, id, account: 'a', atMs });
    };
    const order = added('one');
    await jest.advanceTimersByTimeAsync(0);
    await order.enter({ key: aKey('r') });
    granted('two', 'one', 10_000);
    granted('one', 'one', 0);
    expect(onDue).not.toHaveBeenCalled();
    granted('one', 'one', 10_000);
    expect([...order.granted()]).toMatchObject([{ key: aKey('r') }]);
  });

  it('are given up when the gateway ends, and no more told', async () => {
    added('one');
    added('two');
    spies.close.mockRejectedValueOnce(new Error('away'));
    await all.onApplicationShutdown();
    expect(spies.close.mock.calls).toEqual([['one'], ['two']]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([{ usable: false }, { enabled: false }])('are left to expire with %j', async state => {
    added('one');
    Object.assign(link, state);
    await all.onApplicationShutdown();
    expect(spies.close).not.toHaveBeenCalled();
  });

  it('charge a tenant where Redis is there', () => {
    all.settle('m', 'owner', QueueJobClass.BATCH, 5);
    spies.settle.mockRejectedValueOnce(new Error('away'));
    all.settle('m', 'owner', QueueJobClass.REALTIME, -5);
    link.usable = false;
    all.settle('m', 'owner', QueueJobClass.BATCH, 5);
    expect(spies.settle.mock.calls).toEqual([
      ['m', 'owner', QueueJobClass.BATCH, 5],
      ['m', 'owner', QueueJobClass.REALTIME, -5],
    ]);
  });

  it('are none of an embedded queue', () => {
    const timers = jest.getTimerCount();
    link.enabled = false;
    all.onApplicationBootstrap();
    expect(jest.getTimerCount()).toBe(timers);
  });
});

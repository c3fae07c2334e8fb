import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { QueueJobClass, QueueKeys } from '@switchyard/shared-queue/keys.js';
import { type StreamConfig } from '@switchyard/worker-protocol/call.codec.js';
import { Subject } from 'rxjs';
import { aKey } from '../../../test/support/requests.js';
import { type Lease } from '../../core/dispatch/lease.js';
import { type PlacesOptions, type Waiter } from './model-places.js';
import { StreamPlaces } from './stream-places.js';

const keys = new QueueKeys('test');
const CONFIG = { sessionId: 'session' } as StreamConfig;
const settled = () => new Promise(setImmediate);

describe('live streams at workers that several gateways send to', () => {
  let isEnabled: boolean;
  let isShared: boolean;
  /** Live streams that the worker has room for. */
  let total: number;
  let granted: object[];
  let options: PlacesOptions<Waiter>;
  let ends: PromiseWithResolvers<void>;
  let capacity$: Subject<string>;
  let streams: StreamPlaces;
  const free = jest.fn();
  const release = jest.fn();
  const add = jest.fn((_: string, given: unknown) => {
    options = given as typeof options;
    return places;
  });
  const places = {
    left: jest.fn(),
    extra: jest.fn(),
    changed: jest.fn(),
    granted: () => granted.splice(0),
    enter: jest.fn(),
    get isShared() {
      return isShared;
    },
  };
  const pool = { streamHost: jest.fn(), openStream: jest.fn() };

  beforeEach(() => {
    for (const mock of [add, places.changed, places.left, free, release, places.extra])
      mock.mockClear();
    [isEnabled, isShared, total, granted] = [true, true, 2, []];
    ends = Promise.withResolvers();
    places.enter.mockImplementation(() => Promise.resolve());
    places.extra.mockImplementation(() => [{ release }]);
    pool.streamHost.mockReset().mockReturnValue('host');
    pool.openStream
      .mockReset()
      .mockImplementation(() => ({ finished: ends.promise, cancel: () => Promise.resolve() }));
    begin();
  });

  function begin(): void {
    capacity$ = new Subject();
    const worker = { id: 'w', options: { isRemote: true }, streams: { total, inUse: 0 } };
    const parts = [
      { add },
      { enabled: isEnabled, keys, clock: { nowMs: () => 77 } },
      { ...pool, capacity$, of: () => ({ roster: { all: [worker] } }) },
    ];
    streams = new StreamPlaces(...(parts as unknown as ConstructorParameters<typeof StreamPlaces>));
    streams.onApplicationBootstrap();
  }
  const grants = (): void =>
    void places.enter.mockImplementationOnce(() => {
      granted = [{ key: 'session', workerId: 'w', free }];
      options.onDue();
      return Promise.resolve();
    });

  it('take a slot that all gateways granted, and free it when they end', async () => {
    capacity$.next('m');
    expect(add).toHaveBeenCalledWith('m streams', expect.anything());
    grants();
    const stream = streams.open('m', CONFIG, 't');
    await settled();
    expect(pool.openStream.mock.calls).toEqual([['w', CONFIG]]);
    expect([free.mock.calls.length, add.mock.calls.length]).toEqual([0, 1]);
    ends.resolve();
    await stream.finished;
    await settled();
    expect([free.mock.calls.length, [...options.waiting()]]).toEqual([1, []]);
    const again = Array.fromAsync(streams.open('m', CONFIG, 't').receiveEvents());
    await expect(again).rejects.toMatchObject({ code: 'queue_full' });
  });

  it('that no gateway has a slot for are refused, and wait for none', async () => {
    const stream = streams.open('m', CONFIG, 't');
    expect([...options.waiting()]).toEqual([{ key: 'session' }]);
    await expect(Array.fromAsync(stream.receiveEvents())).rejects.toMatchObject({
      code: 'queue_full',
      retryAfterMs: 1000,
    });
    expect([places.left.mock.calls, [...options.waiting()]]).toEqual([[['session']], []]);
    expect(pool.openStream).not.toHaveBeenCalled();
  });

  it('free their slot when they cannot be opened', async () => {
    grants();
    const gone = new Error('gone');
    pool.openStream.mockImplementation(() => {
      throw gone;
    });
    const stream = streams.open('m', CONFIG, 't');
    await expect(Array.fromAsync(stream.receiveEvents())).rejects.toBe(gone);
    expect([free.mock.calls.length, places.left.mock.calls]).toEqual([1, []]);
  });

  it('are opened as a gateway alone does while Redis does not decide, and counted', async () => {
    isShared = false;
    streams.open('m', CONFIG, 't');
    expect(pool.streamHost).toHaveBeenCalledWith('m', 't');
    expect(pool.openStream).toHaveBeenCalledWith('host', CONFIG);
    const [worker, leases] = places.extra.mock.lastCall as unknown as [string, Lease[]];
    expect([worker, leases.length, release.mock.calls.length]).toEqual(['host', 1, 0]);
    leases[0]?.release();
    ends.resolve();
    await settled();
    expect(release).toHaveBeenCalledTimes(1);
  });

  it('wait as one REALTIME request each', () => {
    streams.open('m', CONFIG, 't');
    expect(options.placeOf({ key: aKey('s') }, 'n')).toEqual({
      id: `${keys.job(aKey('s'), undefined)}.n`,
      class: QueueJobClass.REALTIME,
      sinceMs: 77,
      costMs: 1,
      weight: 1,
      mostTogether: undefined,
      isReturned: false,
      shown: { v: 1, kind: 'stream', model: 'm' },
    });
    expect(options.slots()).toMatchObject([{ workerId: 'w', credits: 2 }]);
  });

  it('have their places told when slots change', () => {
    capacity$.next('m');
    expect(places.changed).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['an embedded queue', false, 2],
    ['a worker without live streams', true, 0],
  ])('have no shared order with %s', async (_, enabled, room) => {
    [isEnabled, total] = [enabled, room];
    begin();
    capacity$.next('m');
    streams.open('m', CONFIG, 't');
    ends.resolve();
    await settled();
    expect([add.mock.calls, pool.openStream.mock.calls.length]).toEqual([[], 1]);
  });
});

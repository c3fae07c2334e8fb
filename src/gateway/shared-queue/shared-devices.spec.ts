import { hostname } from 'node:os';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DEVICE_LEASE_MS } from '@switchyard/shared-queue/client/device-leases.js';
import { Subject } from 'rxjs';
import { SharedDevices } from './shared-devices.js';

Logger.overrideLogger(false);

const OWN = `gw_1 ${hostname()}`;
/** What Redis knows of the model; its clock is 900 s behind that of the gateway. */
const COUNTS = {
  realtime: 0,
  batch: 2,
  running: 1,
  oldestRealtimeMs: Infinity,
  oldestBatchMs: 50_000,
};
const LATER_MS = 900_000;

describe('devices that gateways share', () => {
  let nowMs: number;
  /** As Redis answers who has the leases. */
  let owner: string;
  let counts: typeof COUNTS;
  let isElsewhere: boolean;
  let demands: number;
  let heard$: Subject<void>;
  let devices: SharedDevices;
  /** Reasons, and milliseconds for which they hold. */
  const refused: [string, number][] = [];
  const [evaluated, set, charge, looked, requestLoad] = [
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
    jest.fn(),
  ];
  /** What Redis has of each key that is asked for. */
  let found: string | null;
  let refusal: string | undefined;
  let requestedSinceMs: number | undefined;
  let isAway: boolean;
  let isEnabled: boolean;
  let back$: Subject<void>;
  let events$: Subject<{ model: string }>;
  let shareOf: () => unknown;
  let kind: string;

  const look = async (): Promise<void> => {
    heard$.next();
    await new Promise(setImmediate);
  };

  beforeEach(async () => {
    [nowMs, owner, counts, isElsewhere] = [1_000_000, OWN, COUNTS, false];
    [demands, heard$] = [0, new Subject()];
    refused.length = 0;
    [found, refusal, requestedSinceMs, isAway, isEnabled] = [
      null,
      undefined,
      Infinity,
      false,
      true,
    ];
    [back$, events$, kind] = [new Subject(), new Subject(), 'llm'];
    for (const mock of [evaluated, set, charge, looked, requestLoad]) mock.mockReset();
    evaluated.mockImplementation(() => Promise.resolve(owner));
    for (const mock of [set, charge]) mock.mockImplementation(() => Promise.resolve());
    const redis = {
      eval: evaluated,
      set,
      pttl: () => Promise.resolve(70),
      mget: (keys: readonly string[]) => Promise.resolve(keys.map(() => found)),
    };
    const link = {
      redis,
      back$,
      access: { agingMs: 30_000 },
      get enabled() {
        return isEnabled;
      },
      keys: {
        device: String,
        refused: (id: string) => `refused ${id}`,
        loadRequested: (id: string) => `requested ${id}`,
      },
      clock: { nowMs: () => nowMs - LATER_MS },
    };
    const place = {
      get refusal() {
        return refusal;
      },
      get loadRequestedSinceMs() {
        return requestedSinceMs;
      },
      refuse: (reason: string, untilMs: number) => refused.push([reason, untilMs - nowMs]),
    };
    const model = { running: 1, demand: () => (demands += 1), place, requestLoad };
    const swaps = {
      devices: () => [{ id: 'gpu' }],
      placed: () => [{ id: 'm', kind }],
      isAway: () => isAway,
      look: looked,
      share: undefined as unknown,
    };
    const workers = { heard$, placedCalls: () => 3, areElsewhere: () => isElsewhere };
    const parts = [
      link,
      { id: 'gw_1' },
      swaps,
      { counts: () => Promise.resolve(counts), charge },
      workers,
    ];
    devices = Object.assign(
      new SharedDevices(
        ...([...parts, { of: () => model }] as unknown as ConstructorParameters<
          typeof SharedDevices
        >),
      ),
      {
        events: { events$ },
        clock: { nowMs: () => nowMs },
        places: { others: (_: string, all: typeof COUNTS) => all },
      } as object,
    );
    shareOf = () => swaps.share;
    devices.onApplicationBootstrap();
    await look();
  });

  it('load by what waits at all gateways, in the time of this one, sessions included', () => {
    expect(devices.demandOf('m')).toEqual({
      waiting: 2,
      running: 2,
      oldestRealtimeMs: Infinity,
      oldestMs: 950_000,
      dueMs: 980_000,
    });
    expect(demands).toBe(1);
  });

  it('need a model that has work, and no other', async () => {
    counts = { ...COUNTS, batch: 0, running: 0 };
    await look();
    expect(demands).toBe(1);
    counts = { ...COUNTS, batch: 0 };
    await look();
    expect(demands).toBe(2);
  });

  it('are loaded by the gateway that has the leases, as long as they last', () => {
    expect(devices.role).toBe('load');
    nowMs += DEVICE_LEASE_MS;
    expect(devices.role).toBe('keep');
  });

  it('are not loaded while workers of another gateway are on them', () => {
    isElsewhere = true;
    expect(devices.role).toBe('keep');
  });

  it('are left to a gateway that has the leases now; text of another host is refused', async () => {
    owner = 'gw_2 far';
    await look();
    expect([devices.role, devices.owner]).toEqual(['leave', 'gw_2']);
    expect(refused).toEqual([
      [
        'gw_2 loads it on the host far, and text is sent from gateways of that host',
        DEVICE_LEASE_MS,
      ],
    ]);
  });

  it('stay as they are while no gateway has the lease', async () => {
    owner = '';
    await look();
    expect([devices.role, devices.owner]).toEqual(['keep', undefined]);
  });

  it('are shared where the queue is', () => expect(shareOf()).toBe(devices));

  it('count what runs by whichever is more: calls of workers, or what the queue knows', async () => {
    counts = { ...COUNTS, running: 9, oldestRealtimeMs: 40_000 };
    await look();
    expect(devices.demandOf('m')).toMatchObject({
      running: 9,
      oldestRealtimeMs: 940_000,
      oldestMs: 940_000,
      dueMs: 940_000,
    });
  });

  /** Whether it may take leases that nobody has. */
  const mayTake = () => evaluated.mock.lastCall?.at(-1);
  const leaves = async () => {
    owner = '';
    await look();
    return mayTake();
  };

  it('are left to who had them for a lease after Redis was away', async () => {
    expect(mayTake()).toBe(1);
    expect(await leaves()).toBe(1);
    back$.next();
    expect(await leaves()).toBe(0);
    nowMs += DEVICE_LEASE_MS - 1;
    expect(await leaves()).toBe(0);
    nowMs += 1;
    expect(await leaves()).toBe(1);
  });

  it('are renewed at once after Redis was away', async () => {
    back$.next();
    await look();
    expect(mayTake()).toBe(1);
  });

  it('are asked for at the first request for a model that is not there', async () => {
    const asks = () => evaluated.mock.calls.length;
    counts = { ...COUNTS, batch: 0 };
    await look();
    const before = asks();
    events$.next({ model: 'm' });
    isAway = true;
    events$.next({ model: 'other' });
    expect(asks()).toBe(before);
    events$.next({ model: 'm' });
    events$.next({ model: 'm' });
    expect(asks()).toBe(before + 1);
    counts = COUNTS;
    await look();
    await look();
    const later = asks();
    events$.next({ model: 'm' });
    expect(asks()).toBe(later);
  });

  it('are given back when the gateway ends, which asks no more', async () => {
    await devices.onApplicationShutdown();
    const asked = evaluated.mock.calls.length;
    expect(evaluated.mock.lastCall).toEqual([expect.any(String), 1, 'gpu', OWN]);
    await look();
    expect(evaluated).toHaveBeenCalledTimes(asked);
  });

  it('are not given back by who has not got them', async () => {
    await leaves();
    const asked = evaluated.mock.calls.length;
    await devices.onApplicationShutdown();
    expect(evaluated).toHaveBeenCalledTimes(asked);
  });

  it('are loaded for sessions of other gateways', async () => {
    expect(requestLoad).not.toHaveBeenCalled();
    found = '1';
    await look();
    expect(requestLoad).toHaveBeenCalledTimes(1);
  });

  it.each([
    [hostname(), 5, 1],
    [hostname(), Infinity, 0],
    [hostname(), undefined, 0],
    ['far', 5, 0],
  ])('are asked for where a gateway of the host %s loads, since %p', async (host, since, times) => {
    [owner, requestedSinceMs, kind] = [`gw_2 ${host}`, since, 'stt'];
    await look();
    expect(set.mock.calls.map(([key]) => key)).toEqual(times ? ['requested m'] : []);
    expect(refused).toEqual([]);
  });

  it('say why a model cannot be loaded, to others and from others', async () => {
    devices.refuse('m', 'too large', 50);
    expect(set.mock.calls).toEqual([['refused m', 'too large', 'PX', 50]]);
    [owner, found] = [`gw_2 ${hostname()}`, 'too large'];
    await look();
    expect(refused).toEqual([['too large', 70]]);
    refusal = 'known';
    await look();
    expect(refused).toHaveLength(1);
  });

  it('charge a load to those who wait, and all look again whenever Redis was asked', async () => {
    devices.chargeLoad('m', 9);
    expect(charge.mock.calls).toEqual([['m', 9]]);
    expect(looked).toHaveBeenCalledTimes(1);
    evaluated.mockImplementation(() => Promise.reject(new Error('away')));
    await look();
    expect([looked.mock.calls.length, devices.role]).toEqual([1, 'load']);
  });

  it('are nothing to ask Redis about where the queue is embedded', () => {
    isEnabled = false;
    const observed = back$.observed;
    back$ = new Subject();
    devices.onApplicationBootstrap();
    expect([observed, back$.observed]).toEqual([true, false]);
  });
});

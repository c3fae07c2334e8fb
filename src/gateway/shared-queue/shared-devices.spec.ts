import { hostname } from 'node:os';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DEVICE_LEASE_MS } from '@switchyard/shared-queue/client/device-leases.js';
import { Subject } from 'rxjs';
import { SharedDevices } from './shared-devices.js';

const OWN = `gw_1 ${hostname()}`;
/** What Redis knows of the model; its clock is 900 s behind that of the gateway. */
const COUNTS = {
  ...{ realtime: 0, batch: 2, running: 1, oldestRealtimeMs: Infinity, oldestBatchMs: 50_000 },
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
  const refused: string[] = [];

  const look = async (): Promise<void> => {
    heard$.next();
    await new Promise(setImmediate);
  };

  beforeEach(async () => {
    [nowMs, owner, counts, isElsewhere] = [1_000_000, OWN, COUNTS, false];
    [demands, heard$] = [0, new Subject()];
    refused.length = 0;
    const redis = {
      eval: () => Promise.resolve(owner),
      mget: (keys: readonly string[]) => Promise.resolve(keys.map(() => null)),
    };
    const link = {
      ...{ enabled: true, redis, back$: new Subject(), access: { agingMs: 30_000 } },
      keys: { device: String, refused: String, loadRequested: String },
      clock: { nowMs: () => nowMs - LATER_MS },
    };
    const place = { refusal: undefined, refuse: (reason: string) => refused.push(reason) };
    const model = { running: 0, demand: () => (demands += 1), place };
    const swaps = {
      ...{ devices: () => [{ id: 'gpu' }], placed: () => [{ id: 'm', kind: 'llm' }] },
      ...{ isAway: () => false, look: jest.fn() },
    };
    const workers = { heard$, placedCalls: () => 3, areElsewhere: () => isElsewhere };
    const parts = [link, { id: 'gw_1' }, swaps, { counts: () => Promise.resolve(counts) }, workers];
    devices = Object.assign(
      new SharedDevices(
        ...([...parts, { of: () => model }] as unknown as ConstructorParameters<
          typeof SharedDevices
        >),
      ),
      {
        events: { events$: new Subject() },
        clock: { nowMs: () => nowMs },
        places: { others: (_: string, all: typeof COUNTS) => all },
      } as object,
    );
    devices.onApplicationBootstrap();
    await look();
  });

  it('load by what waits at all gateways, in the time of this one, sessions included', () => {
    expect(devices.demandOf('m')).toEqual({
      ...{ waiting: 2, running: 3, oldestRealtimeMs: Infinity },
      ...{ oldestMs: 950_000, dueMs: 980_000 },
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
      'gw_2 loads it on the host far, and text is sent from gateways of that host',
    ]);
  });

  it('stay as they are while no gateway has the lease', async () => {
    owner = '';
    await look();
    expect([devices.role, devices.owner]).toEqual(['keep', undefined]);
  });
});

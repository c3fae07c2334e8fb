import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type LiveDelta } from '../../contracts/events/live-event.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { GatewayIdentity } from '../../platform/clock/clock.module.js';
import { ANYBODY } from '../../platform/auth/principal.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { LiveBatchCache } from './live-batch-cache.js';
import { LiveFeed } from './live-feed.js';
import { LiveListener } from './live-listener.js';
import { LiveRooms } from './live-rooms.js';
import { LiveSource } from './live-source.js';
import { aKey } from '../../../test/support/requests.js';

const base = (requestId: string) =>
  ({ key: aKey(requestId), requestId, model: 'm', priority: 'batch', atMs: 0 }) as const;

/** A whole life: four events. */
const life = (id: string): DispatchEvent[] => [
  { ...base(id), type: 'accepted', bytes: 1 },
  {
    ...{ ...base(id), type: 'leased', workerId: 'w', groupId: 'g', groupSize: 1, reason: 'single', attempt: 1 },
    ...{ queueWaitMs: 1, batchWaitMs: 0 },
  },
  { ...base(id), type: 'settled', status: 'completed', phases: {}, attempts: 1 },
];

describe('LiveFeed: the work it makes', () => {
  let bus: DispatchEventBus;
  let feed: LiveFeed;
  let asked: number;
  let sent: LiveDelta[];

  beforeEach(() => {
    jest.useFakeTimers();
    [asked, sent] = [0, []];
    bus = new DispatchEventBus();
    const pool = { workers: () => (asked++, []) } as unknown as WorkerPoolService;
    const source = new LiveSource(pool, new LiveBatchCache(), [{ id: 'm' } as ModelSpec], new GatewayIdentity());
    feed = new LiveFeed(bus, source, new LiveRooms(source));
    feed.onModuleInit();
  });
  afterEach(() => {
    feed.onApplicationShutdown();
    jest.useRealTimers();
  });

  const listener = () =>
    new LiveListener({
      principal: ANYBODY,
      send: (event: string, message: unknown) => void (event === 'delta' && sent.push(message as LiveDelta)),
      pending: () => ({ messages: 0, bytes: 0 }),
    });
  const requests = (count: number) => {
    for (let i = 0; i < count; i++) for (const event of life(`r${i}`)) bus.emit(event);
  };

  it('is none without listeners: no timer, no message, no poll of the workers', () => {
    requests(1000);
    expect([jest.getTimerCount(), sent.length, asked]).toEqual([0, 0, 0]);
  });

  it('is 10 messages for a second with 1,000 requests of one model, each with the latest counts', () => {
    feed.join(listener(), 'queue');
    for (let tenth = 0; tenth < 10; tenth++) {
      requests(100);
      jest.advanceTimersByTime(100);
    }
    expect(sent.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(sent.at(-1)?.set).toMatchObject({ m: { batch: 0, running: 0, completed: 1000 } });
  });

  it('is nothing for requests without listeners', () => {
    feed.join(listener(), 'request:r7');
    requests(1000);
    expect(sent.map(({ set }) => Object.keys(set))).toEqual([['r7'], ['r7'], ['r7']]);
  });

  it('shows a new priority in the room of the request and in the counts of its queue', () => {
    for (const room of ['queue', 'request:r0'] as const) feed.join(listener(), room);
    bus.emit(life('r0')[0]!);
    bus.emit({ ...base('r0'), type: 'reprioritized', priority: 'realtime', from: 'batch' });
    jest.advanceTimersByTime(100);
    expect(sent.filter(({ room }) => room === 'request:r0').at(-1)?.set).toMatchObject({
      r0: { priority: 'realtime' },
    });
    expect(sent.at(-1)?.set).toMatchObject({ m: { realtime: 1, batch: 0 } });
  });

  it('ends with the last listener', () => {
    const last = listener();
    feed.join(last, 'workers');
    feed.join(last, 'queue');
    jest.advanceTimersByTime(1000);
    expect(asked).toBeGreaterThan(0);
    feed.leaveAll(last);
    requests(10);
    expect(jest.getTimerCount()).toBe(0);
  });
});

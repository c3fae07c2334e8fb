import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { type LiveDelta } from '../../contracts/events/live-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { ANYBODY } from '../../platform/auth/principal.js';
import { GatewayIdentity } from '../../platform/clock/gateway-identity.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type RequestRegistry } from '../registry/request-registry.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { LiveFeed } from './live-feed.js';
import { LiveListener } from './live-listener.js';
import { LiveSource } from './live-source.js';

const GONE = {
  status: 'cancelled',
  error: new DomainError('request_cancelled', 'gone'),
} as const;

describe('LiveFeed: the work it makes', () => {
  let registry: RequestRegistry;
  let feed: LiveFeed;
  let asked: number;
  let sent: LiveDelta[];

  beforeEach(() => {
    jest.useFakeTimers();
    [asked, sent] = [0, []];
    const bus = new DispatchEventBus();
    registry = aRegistry(bus);
    const pool = { workers: () => (asked++, []) } as unknown as WorkerPoolService;
    const models = [{ id: 'm' } as ModelSpec];
    const source = new LiveSource(registry, pool, models, new GatewayIdentity());
    feed = new LiveFeed(bus, source);
  });
  afterEach(() => {
    feed.onApplicationShutdown();
    jest.useRealTimers();
  });

  const listener = () =>
    new LiveListener({
      principal: ANYBODY,
      send: (event: string, message: unknown) =>
        void (event === 'delta' && sent.push(message as LiveDelta)),
      pending: () => ({ messages: 0, bytes: 0 }),
    });
  /** Whole lives: three events each. */
  const requests = (count: number) => {
    for (let i = 0; i < count; i++) {
      const record = opened(registry, `r${i}`);
      registry.leased(record, LEASE, false);
      registry.settle(record, GONE);
    }
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
    expect(sent.at(-1)?.set).toMatchObject({
      m: { batch: 0, running: 0, cancelled: 1000 },
    });
  });

  it('is nothing for requests without listeners', () => {
    feed.join(listener(), 'request:r7');
    requests(1000);
    expect(sent.map(({ set }) => Object.keys(set))).toEqual([['r7'], ['r7'], ['r7']]);
  });

  it('shows a new priority in the room of the request and in the counts of its queue', () => {
    for (const room of ['queue', 'request:r0'] as const) feed.join(listener(), room);
    registry.reprioritized(opened(registry, 'r0'), RequestPriority.REALTIME);
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

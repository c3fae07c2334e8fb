import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { aRegistry, opened } from '../../../test/support/records.js';
import { ANYBODY } from '../../platform/auth/principal.js';
import { GatewayIdentity } from '../../platform/clock/gateway-identity.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type RedisLink } from '../../platform/redis/redis.module.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { LiveFeed } from './live-feed.js';
import { LiveListener } from './live-listener.js';
import { type LiveNamespace, LiveReplicas } from './live-replicas.js';
import { LiveSource } from './live-source.js';

const LEASE_MS = 15_000;
const HEARTBEAT_MS = 5000;

describe('the feeds of two gateways', () => {
  type Receive = (message: unknown) => void;
  let gateways: ReturnType<typeof gateway>[];
  /** Messages that are lost, by their type. */
  let lost: Set<string>;
  let sent: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    [lost, sent] = [new Set(), []];
    gateways = [];
    gateways.push(gateway(), gateway());
  });
  afterEach(() => {
    for (const { replicas, feed } of gateways) {
      replicas.onApplicationShutdown();
      feed.onApplicationShutdown();
    }
    jest.useRealTimers();
  });

  function gateway() {
    const bus = new DispatchEventBus();
    const registry = aRegistry(bus);
    const pool = { workers: () => [] } as unknown as WorkerPoolService;
    const source = new LiveSource(
      registry,
      pool,
      [{ id: 'm' } as ModelSpec],
      new GatewayIdentity(),
    );
    const feed = new LiveFeed(bus, source);
    const redis = { prefix: 'p', pubSub: () => ({ publisher: {}, subscriber: {} }) };
    const replicas = new LiveReplicas(
      source,
      feed,
      { nowMs: () => performance.now() },
      redis as unknown as RedisLink,
    );
    let receive: Receive = () => undefined;
    replicas.connect({
      server: { adapter: () => undefined },
      on: (_: string, listener: Receive) => void (receive = listener),
      serverSideEmit: (_: string, message: { readonly type: string }) => {
        sent.push(message.type);
        if (!lost.has(message.type)) for (const one of gateways) one.receive(message);
      },
    } as unknown as LiveNamespace);
    const listener = new LiveListener({
      principal: ANYBODY,
      send: () => undefined,
      pending: () => ({ messages: 0, bytes: 0 }),
    });
    const join = () => feed.join(listener, 'queue') && replicas.ask('queue');
    /** Waiting requests, by gateway. */
    const shown = () =>
      feed.snapshots(listener, 'queue').map(({ state }) => (state.m as { batch: number }).batch);
    let number = 0;
    const request = () => {
      opened(registry, `${source.id}-${++number}`);
      jest.advanceTimersByTime(100);
    };
    return {
      replicas,
      feed,
      join,
      shown,
      request,
      receive: (message: unknown) => receive(message),
      leave: () => feed.leaveAll(listener),
    };
  }

  it('without listeners send each other no part of any room', () => {
    gateways[1]!.request();
    expect(sent).toEqual([]);
  });

  it('show what each has when a listener comes, and what changes', () => {
    const [one, other] = gateways as [ReturnType<typeof gateway>, ReturnType<typeof gateway>];
    other.request();
    one.join();
    expect(one.shown()).toEqual([0, 1]);
    other.request();
    expect(one.shown()).toEqual([0, 2]);
    one.leave();
    jest.advanceTimersByTime(LEASE_MS + HEARTBEAT_MS);
    sent = [];
    other.request();
    expect(sent).toEqual([]);
  });

  it.each(['watch', 'delta'])('repair what is missing when a %s was lost', type => {
    const [one, other] = gateways as [ReturnType<typeof gateway>, ReturnType<typeof gateway>];
    if (type === 'delta') one.join();
    lost.add(type);
    if (type !== 'delta') one.join();
    other.request();
    expect(one.shown()).not.toEqual([0, 1]);
    lost.clear();
    jest.advanceTimersByTime(HEARTBEAT_MS);
    other.request();
    expect(one.shown()).toEqual([0, 2]);
  });

  it.each([
    ['at once when it says so', new Set<string>(), 0],
    ['after three heartbeats when it does not', new Set(['bye']), LEASE_MS + HEARTBEAT_MS],
  ])('drop the part of one that stopped %s', (_, silent, afterMs) => {
    const [one, other] = gateways as [ReturnType<typeof gateway>, ReturnType<typeof gateway>];
    one.join();
    expect(one.shown()).toHaveLength(2);
    lost = silent;
    other.replicas.onApplicationShutdown();
    if (afterMs > 0) {
      jest.advanceTimersByTime(LEASE_MS - HEARTBEAT_MS);
      expect(one.shown()).toHaveLength(2);
      jest.advanceTimersByTime(2 * HEARTBEAT_MS);
    }
    expect(one.shown()).toHaveLength(1);
  });
});

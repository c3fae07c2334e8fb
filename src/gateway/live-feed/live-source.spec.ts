import { describe, expect, it } from '@jest/globals';
import { aRegistry, LEASE, opened } from '../../../test/support/records.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { DEFAULT_TENANT, requestKey } from '../../core/request/request-key.js';
import { GatewayIdentity } from '../../platform/clock/gateway-identity.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { isBatchRoom, LiveSource, partGateway, partId, partTenant } from './live-source.js';

describe('the tenant whose part of a room a source is', () => {
  const tenantOf = (room: string, source: string) =>
    partTenant({ room, source } as Parameters<typeof partTenant>[0]);

  it.each(['queue', 'workers'])('is none in %s, which all may see', room => {
    expect(tenantOf(room, 'gateway~alice')).toBeUndefined();
  });

  it('is behind the name of the gateway, else the default one', () => {
    expect(tenantOf('request:req_1', 'gateway~alice')).toBe('alice');
    expect(tenantOf('request:req_1', '~alice')).toBe('alice');
    expect(tenantOf('request:req_1', 'gateway')).toBe(DEFAULT_TENANT);
  });
});

describe('the queue of a model', () => {
  it('counts how its requests ended: an answer that was withdrawn is a cancelled one', () => {
    const pool = { workers: () => [] } as unknown as WorkerPoolService;
    const registry = aRegistry(new DispatchEventBus());
    const source = new LiveSource(registry, pool, [], new GatewayIdentity());
    const apply = (event: Partial<DispatchEvent>): boolean =>
      source.apply({ model: 'm', ...event } as DispatchEvent);
    for (const status of ['completed', 'completed', 'completed', 'failed', 'cancelled'] as const)
      expect(apply({ type: 'settled', status })).toBe(true);
    for (const type of ['rejected', 'withdrawn'] as const) expect(apply({ type })).toBe(true);
    const ends = { rejected: 1, completed: 2, failed: 1, cancelled: 2 };
    expect(source.queues(['m'])).toMatchObject({ m: ends });
  });
});

describe('the part of a gateway', () => {
  it('is named for it, and for a tenant other than the default one', () => {
    expect([partId('g'), partId('g', DEFAULT_TENANT), partId('g', 'alice')]).toEqual([
      'g',
      'g',
      'g~alice',
    ]);
    expect(['g', 'g~alice'].map(source => partGateway({ source } as never))).toEqual(['g', 'g']);
    expect([isBatchRoom('batch:b'), isBatchRoom('request:b')]).toEqual([true, false]);
  });

  const worker = {
    id: 'w',
    model: 'm',
    state: 'busy',
    slots: { total: 4, inUse: 3 },
    streams: 2,
    restarts: 1,
    address: 'secret',
  };
  function source(placements = new Map<string, object>()) {
    const registry = aRegistry(new DispatchEventBus());
    const pool = { workers: () => [worker] } as unknown as WorkerPoolService;
    const swaps = { placements: { at: (model: string) => placements.get(model) } };
    const given = [registry, pool, [{ id: 'm' } as ModelSpec], new GatewayIdentity()] as const;
    return { registry, live: new LiveSource(...given, swaps as never) };
  }

  it('has the queue of each model: what waits, by priority, and what runs', () => {
    const { registry, live } = source();
    for (const id of ['a', 'b', 'c']) opened(registry, id);
    registry.leased(opened(registry, 'd'), LEASE, false);
    const [{ state }] = live.read('queue') as [{ state: Record<string, object> }];
    const waiting = registry.live().filter(({ state: is }) => is === 'queued');
    const realtime = waiting.filter(({ priority }) => priority === 'realtime').length;
    expect(state.m).toMatchObject({ realtime, batch: 3 - realtime, running: 1, completed: 0 });
    expect(live.queues(['other'])).toMatchObject({ other: { batch: 0, running: 0, failed: 0 } });
    expect(live.apply({ model: 'm', type: 'promoted' } as DispatchEvent)).toBe(false);
  });

  it('has its workers, without what listeners need not know', () => {
    const { live } = source(new Map([['m', { device: 'cuda:0', stage: 'loaded' }]]));
    expect(live.read('workers')).toEqual([
      {
        state: {
          w: {
            id: 'w',
            model: 'm',
            state: 'busy',
            slots: 4,
            in_use: 3,
            streams: 2,
            restarts: 1,
            device: 'cuda:0',
            stage: 'loaded',
          },
        },
      },
    ]);
  });

  it('has the requests of an id, those that live first, and those that have ended', () => {
    const { registry, live } = source();
    const error = new DomainError('request_cancelled', 'gone');
    registry.settle(opened(registry, 'r'), { status: 'cancelled', error });
    const key = requestKey({ tenant: DEFAULT_TENANT, id: 'r' });
    expect(live.find(key)).toMatchObject({ view: { state: 'cancelled' } });
    opened(registry, 'other');
    const states = () =>
      live.read('request:r').map(({ state }) => (state.r as { state: string }).state);
    expect(states()).toEqual(['cancelled']);
    opened(registry, 'r');
    expect(live.find(key)).toMatchObject({ tenant: DEFAULT_TENANT, view: { state: 'queued' } });
    expect(states()[0]).toBe('queued');
    expect(live.find(requestKey({ tenant: 't', id: 'none' }))).toBeUndefined();
  });

  it('has batches as they were last read, which is told if it changes', () => {
    const { live } = source();
    const job = (status: string) =>
      ({ id: 'b', tenant: 't', status, counts: {}, expiresAtMs: 1999 }) as unknown as BatchJob;
    expect(live.read('batch:b')).toEqual([]);
    expect(live.readBatch(job('in_progress'))).toMatchObject({
      tenant: 't',
      view: { status: 'in_progress', expires_at: 1 },
    });
    expect(live.readBatch(job('in_progress'))).toBeUndefined();
    expect(live.readBatch(job('completed'))).toMatchObject({ view: { status: 'completed' } });
    expect(live.read('batch:b')).toMatchObject([{ tenant: 't', state: { b: { id: 'b' } } }]);
    live.forgetBatch('b');
    expect([live.batch('b'), live.read('batch:b')]).toEqual([undefined, []]);
  });
});

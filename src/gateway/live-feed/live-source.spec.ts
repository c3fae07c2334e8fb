import { describe, expect, it } from '@jest/globals';
import { aRegistry } from '../../../test/support/records.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { GatewayIdentity } from '../../platform/clock/gateway-identity.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { LiveSource, partTenant } from './live-source.js';

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

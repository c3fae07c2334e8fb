import { afterEach, describe, expect, it } from '@jest/globals';
import { register } from 'prom-client';
import { scraped, SchedulerHarness } from '../../support/scheduler-harness.js';

describe('metrics by tenant', () => {
  let harness: SchedulerHarness;
  afterEach(() => harness.stop());

  const start = async (tenants: string): Promise<void> => {
    harness = await SchedulerHarness.start({
      settings: {
        'metrics.tenants': tenants,
        'batching.policy': 'none',
        'queue.max_requests_per_model': 4,
        'queue.realtime_reserve': 0,
      },
    });
  };
  const series = async (): Promise<string[]> =>
    (await register.metrics()).split('\n').filter(line => line.startsWith('switchyard_tenant_'));
  const of = (name: string, tenant: string, labels: Record<string, string> = {}) =>
    scraped(name, { tenant, ...labels });

  it('show who floods: what waits and for how long, how it ended, what was rejected, others together', async () => {
    await start('acme, globex');
    const settled = ['acme', 'acme', 'hooli', undefined].map((tenant, n) =>
      harness.submit(`r${n}`, tenant === undefined ? {} : { tenant }),
    );
    await expect(async () => harness.submit('r4', { tenant: 'acme' })).rejects.toMatchObject({
      code: 'queue_full',
    });
    expect(
      await Promise.all(
        ['acme', 'globex', 'other'].map(tenant => of('switchyard_tenant_queue_depth', tenant)),
      ),
    ).toEqual([2, 0, 2]);
    harness.pool.addWorker('a1', 'alpha', { slots: 4 });
    await harness.settle();
    expect(await of('switchyard_tenant_queue_depth', 'acme')).toBe(0);
    expect(await of('switchyard_tenant_queue_wait_seconds_count', 'acme')).toBe(2);
    expect(await of('switchyard_tenant_queue_wait_seconds_count', 'other')).toBe(2);
    for (const call of harness.pool.calls) call.answer({ deviceMs: 500, batchSize: 4 });
    await Promise.all(settled);
    expect(await of('switchyard_tenant_device_seconds_total', 'acme')).toBe(0.25);
    expect(await of('switchyard_tenant_requests_total', 'acme', { status: 'completed' })).toBe(2);
    expect(await of('switchyard_tenant_requests_total', 'acme', { status: 'rejected' })).toBe(1);
    expect(await of('switchyard_tenant_requests_total', 'other', { status: 'completed' })).toBe(2);
    expect((await series()).filter(line => line.includes('hooli'))).toEqual([]);
  });

  it('top-N ends the series of who is no longer among the N', async () => {
    await start('top-1');
    const cancelled = async (tenant: string, ids: readonly string[]): Promise<void> => {
      const settled = ids.map(id => harness.submit(id, { tenant }));
      await harness.cancellations.cancelMany({}, 'operator');
      await Promise.all(settled);
    };
    await cancelled('acme', ['r1']);
    expect(await of('switchyard_tenant_requests_total', 'acme', { status: 'cancelled' })).toBe(1);
    await cancelled('flood', ['f1', 'f2', 'f3']);
    expect(await of('switchyard_tenant_requests_total', 'other', { status: 'cancelled' })).toBe(3);
    harness.clock.advance(61_000);
    await cancelled('flood', ['f4', 'f5']);
    expect(await of('switchyard_tenant_requests_total', 'flood', { status: 'cancelled' })).toBe(2);
    expect((await series()).filter(line => line.includes('acme'))).toEqual([]);
  });

  it('are off by default: no series', async () => {
    await start('off');
    const settled = harness.submit('r1', { tenant: 'acme' });
    await harness.cancellations.cancelMany({}, 'operator');
    await settled;
    expect(await series()).toEqual([]);
  });
});

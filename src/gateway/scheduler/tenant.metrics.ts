import { Injectable, type Provider } from '@nestjs/common';
import { type Gauge } from 'prom-client';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import {
  counterMetric,
  histogramMetric,
  metricProvider,
} from '../../platform/metrics/metric-provider.js';
import { TenantLabels } from '../../platform/metrics/tenant-labels.js';
import { RequestRegistry } from '../registry/request-registry.js';

/** Outcomes that the counter has: how requests end, and `rejected` before they were queued. */
const OUTCOMES = ['completed', 'cancelled', 'failed', 'rejected'] as const;

/**
 * Requests, waits, device time and queue depth of the tenants that `metrics.tenants`
 * names. Off, it listens to nothing and has no series.
 */
@Injectable()
class TenantMetrics {
  readonly #requests = counterMetric('switchyard_tenant_requests_total');
  readonly #waits = histogramMetric('switchyard_tenant_queue_wait_seconds');
  readonly #device = counterMetric('switchyard_tenant_device_seconds_total');

  readonly #labels: TenantLabels;

  constructor(events: DispatchEventBus, clock: ProcessClock, { metrics }: Settings) {
    this.#labels = new TenantLabels(
      metrics.tenants,
      () => clock.nowMs(),
      tenant => this.#end(tenant),
    );
    if (this.#labels.enabled) events.events$.subscribe(event => this.#observe(event));
  }

  #observe(event: DispatchEvent): void {
    const name = event.tenant ?? DEFAULT_TENANT;
    if (event.type === 'accepted' || event.type === 'rejected') this.#labels.count(name);
    const tenant = this.#labels.labelOf(name);
    if (event.type === 'rejected') this.#requests.inc({ tenant, status: 'rejected' });
    else if (event.type === 'settled') {
      const { status, deviceMs } = event;
      this.#requests.inc({ tenant, status });
      if (deviceMs !== undefined) this.#device.inc({ tenant }, deviceMs / 1000);
    }
    // As in `scheduler_queue_wait_seconds`: the wait for a second lease is not
    // the queue's doing.
    else if (event.type === 'leased' && event.attempt === 1)
      this.#waits.observe({ tenant }, event.queueWaitMs / 1000);
  }

  readDepth(depth: Gauge, registry: RequestRegistry): void {
    if (!this.#labels.enabled) return;
    for (const tenant of this.#labels.values) depth.set({ tenant }, 0);
    for (const { state, tenant = DEFAULT_TENANT } of registry.live())
      if (state === 'queued') depth.inc({ tenant: this.#labels.labelOf(tenant) });
  }

  #end(tenant: string): void {
    for (const status of OUTCOMES) this.#requests.remove({ tenant, status });
    this.#waits.remove({ tenant });
    this.#device.remove({ tenant });
  }
}

export const tenantMetricProviders: Provider[] = [
  TenantMetrics,
  metricProvider('switchyard_tenant_queue_depth', {
    inject: [TenantMetrics, RequestRegistry],
    collect: (depth, metrics: TenantMetrics, registry: RequestRegistry) =>
      metrics.readDepth(depth, registry),
  }),
];

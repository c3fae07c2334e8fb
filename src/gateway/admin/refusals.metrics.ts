import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type FastifyInstance } from 'fastify';
import { type Counter } from 'prom-client';
import { metricProvider } from '../../platform/metrics/metric-provider.js';

const REFUSED = [401, 403, 429];

/**
 * Requests to admin routes that had no key, a wrong one, or one without the scope. The audit log does not have them.
 */
@Injectable()
export class AdminRefusals {
  constructor(@InjectMetric('switchyard_admin_refusals_total') private readonly refusals: Counter) {}

  count(path: string, status: number): void {
    if (path.startsWith('/admin/') && REFUSED.includes(status)) this.refusals.inc({ status: String(status) });
  }
}

export const adminRefusalProviders: Provider[] = [AdminRefusals, metricProvider('switchyard_admin_refusals_total')];

/** Counts before the answer is sent: a caller that was refused finds itself in the next scrape. */
export function registerRefusalHooks(fastify: FastifyInstance, refusals: AdminRefusals): void {
  fastify.addHook('onSend', (request, reply, payload, done) => {
    refusals.count(request.url, reply.statusCode);
    done(null, payload);
  });
}

import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter } from 'prom-client';
import { metricProvider } from '../../platform/metrics/metric-provider.js';

/**
 * Every answer that refuses or fails, whoever gave it, before it is sent: a caller
 * that was refused finds itself in the next scrape. Refusals of admin routes are not
 * in the audit log.
 */
@Injectable()
export class HttpErrors {
  constructor(
    @InjectMetric('switchyard_http_errors_total') private readonly errors: Counter,
  ) {}

  count(path: string, status: number): void {
    if (status >= 400)
      this.errors.inc({
        area: path.startsWith('/admin/') ? 'admin' : 'api',
        status: String(status),
      });
  }
}

export const httpErrorProviders: Provider[] = [
  HttpErrors,
  metricProvider('switchyard_http_errors_total'),
];

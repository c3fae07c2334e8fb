import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter } from 'prom-client';
import { metricProvider } from '../../platform/metrics/metric-provider.js';
import {
  type StorageOperation,
  StorageOperations,
  type StorageStatus,
} from '../../platform/storage/storage.metrics.js';

/** Counts what the processor asks of the blob store, finds at its start, and sends as webhooks. */
@Injectable()
export class StoreMetrics {
  constructor(
    private readonly operations: StorageOperations,
    @InjectMetric('batch_startup_recovery_total') private readonly recoveries: Counter,
    @InjectMetric('batch_webhooks_total') private readonly webhooks: Counter,
  ) {}

  stored(operation: StorageOperation, status: StorageStatus): void {
    this.operations.count('processor', operation, status);
  }

  recovered(status: string, action: string): void {
    this.recoveries.inc({ status, action });
  }

  webhook(outcome: 'sent' | 'retry' | 'given_up'): void {
    this.webhooks.inc({ outcome });
  }
}

export const STORE_METRICS: Provider[] = [
  StoreMetrics,
  metricProvider('batch_startup_recovery_total'),
  metricProvider('batch_webhooks_total'),
];

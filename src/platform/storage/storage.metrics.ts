import { Injectable, type Provider } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { type Counter } from 'prom-client';
import { metricProvider } from '../metrics/metric-provider.js';

/** Who asks the blob store. */
export type StorageComponent = 'processor' | 'apiserver' | 'garbage-collector';
export type StorageOperation = 'store' | 'retrieve' | 'delete';
/** `retry`: failed, and tried again; `exhausted`: failed for good. */
export type StorageStatus = 'success' | 'retry' | 'exhausted';

/** Counts what is asked of the blob store, and how it went. */
@Injectable()
export class StorageOperations {
  constructor(
    @InjectMetric('file_storage_operations_total') private readonly operations: Counter,
  ) {}

  count(
    component: StorageComponent,
    operation: StorageOperation,
    status: StorageStatus,
  ): void {
    this.operations.inc({ operation, component, status });
  }
}

export const STORAGE_OPERATIONS: readonly Provider[] = [
  StorageOperations,
  metricProvider('file_storage_operations_total'),
];

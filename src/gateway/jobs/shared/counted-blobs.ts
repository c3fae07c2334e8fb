import { type Provider } from '@nestjs/common';
import { BlobStore } from '../../../core/jobs/job.ports.js';
import {
  type StorageComponent,
  StorageOperations,
  CountedBlobStore,
} from '../../../platform/storage/storage.metrics.js';

/**
 * The blob store for requests and for the garbage collector: the same blobs
 * with separate metrics.
 */
export const API_BLOBS = Symbol('API_BLOBS');
export const GARBAGE_BLOBS = Symbol('GARBAGE_BLOBS');

const counted = (provide: symbol, component: StorageComponent): Provider => ({
  provide,
  inject: [BlobStore, StorageOperations],
  useFactory: (blobs: BlobStore, operations: StorageOperations) =>
    new CountedBlobStore(blobs, operations, component),
});

export const COUNTED_BLOBS: readonly Provider[] = [
  counted(API_BLOBS, 'apiserver'),
  counted(GARBAGE_BLOBS, 'garbage-collector'),
];

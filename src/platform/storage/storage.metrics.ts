import { Injectable } from '@nestjs/common';
import { BlobStore } from '../../core/jobs/job.ports.js';
import { counterMetric } from '../metrics/metric-provider.js';
import { BlobMissing } from './storage-problems.js';

/** Who asks the blob store. */
export type StorageComponent = 'processor' | 'apiserver' | 'garbage-collector';
export type StorageOperation = 'store' | 'retrieve' | 'delete';
/** `retry`: failed, and tried again; `exhausted`: failed for good. */
export type StorageStatus = 'success' | 'retry' | 'exhausted';

/** Counts what is asked of the blob store, and how it went. */
@Injectable()
export class StorageOperations {
  readonly #operations = counterMetric('file_storage_operations_total');

  count(component: StorageComponent, operation: StorageOperation, status: StorageStatus): void {
    this.#operations.inc({ operation, component, status });
  }
}

/**
 * A blob store whose operations are counted for one component. What goes wrong with a
 * caller's bytes is not the store's.
 */
export class CountedBlobStore extends BlobStore {
  constructor(
    private readonly blobs: BlobStore,
    private readonly operations: StorageOperations,
    private readonly component: StorageComponent,
  ) {
    super();
  }

  async write(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<number> {
    let isSourceBroken = false;
    const watched = async function* () {
      try {
        yield* bytes;
      } catch (error) {
        isSourceBroken = true;
        throw error;
      }
    };
    const writing = this.blobs.write(key, watched(), signal);
    return this.#counted('store', writing, () => isSourceBroken);
  }

  async *read(
    key: string,
    range?: { readonly from: number; readonly to: number },
  ): AsyncIterable<Uint8Array> {
    try {
      yield* this.blobs.read(key, range);
    } catch (error) {
      this.#count('retrieve', error instanceof BlobMissing);
      throw error;
    }
    this.#count('retrieve', true);
  }

  size(key: string): Promise<number | undefined> {
    return this.blobs.size(key);
  }

  remove(key: string): Promise<void> {
    return this.#counted('delete', this.blobs.remove(key));
  }

  keys(prefix: string): ReturnType<BlobStore['keys']> {
    return this.blobs.keys(prefix);
  }

  removeDrafts(beforeMs: number): Promise<number> {
    return this.blobs.removeDrafts(beforeMs);
  }

  async #counted<T>(
    operation: StorageOperation,
    work: Promise<T>,
    excused = () => false,
  ): Promise<T> {
    try {
      const done = await work;
      this.#count(operation, true);
      return done;
    } catch (error) {
      if (!excused()) this.#count(operation, false);
      throw error;
    }
  }

  #count(operation: StorageOperation, good: boolean) {
    this.operations.count(this.component, operation, good ? 'success' : 'exhausted');
  }
}

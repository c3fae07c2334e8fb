import { BlobStore } from '../../core/jobs/job.ports.js';
import { BlobMissing, checkKey, orStorageProblem, storageProblem } from './storage-problems.js';

/** Inclusive byte positions. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * What a store of blobs looks like from outside: whatever its library, disk or server throws
 * becomes `storage_full` or `storage_unavailable` here (D-52). Adapters implement the
 * protected half, and throw what they like.
 *
 * Three things pass as they are: `BlobMissing`, the error of the source that is written, and
 * the reason of the signal.
 */
export abstract class BlobAdapter extends BlobStore {
  async write(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<number> {
    checkKey(key);
    const source: { error?: unknown; broke: boolean } = { broke: false };
    const watched = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of bytes) {
          signal?.throwIfAborted();
          yield chunk;
        }
      } catch (error) {
        Object.assign(source, { error, broke: true });
        throw error;
      }
    };
    try {
      return await this.put(key, watched(), signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw source.broke ? source.error : storageProblem(error);
    }
  }

  async *read(key: string, range?: ByteRange): AsyncIterable<Uint8Array> {
    checkKey(key);
    try {
      yield* this.get(key, range);
    } catch (error) {
      throw error instanceof BlobMissing ? error : storageProblem(error);
    }
  }

  async size(key: string): Promise<number | undefined> {
    checkKey(key);
    return orStorageProblem(this.measure(key));
  }

  async remove(key: string): Promise<void> {
    checkKey(key);
    return orStorageProblem(this.erase(key));
  }

  async *keys(prefix: string): ReturnType<BlobStore['keys']> {
    try {
      yield* this.list(prefix);
    } catch (error) {
      throw storageProblem(error);
    }
  }

  /** Does not end before nothing reads from `bytes` any more. */
  protected abstract put(
    key: string,
    bytes: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<number>;
  /** @throws BlobMissing */
  protected abstract get(key: string, range?: ByteRange): AsyncIterable<Uint8Array>;
  protected abstract measure(key: string): Promise<number | undefined>;
  protected abstract erase(key: string): Promise<void>;
  protected abstract list(prefix: string): ReturnType<BlobStore['keys']>;
}

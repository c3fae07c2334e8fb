import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ShutdownGrace } from '../scheduler/shutdown-drain.js';

/**
 * A database that is full may have room again soon; after this long, callers are told.
 */
const FULL_LIMIT_MS = 20_000;
const PAUSES = { firstMs: 100, longestMs: 2000 };

/**
 * Writes of what was computed: it must not be lost because the database is away
 * or full.
 */
@Injectable()
export class StorageRetries implements OnModuleDestroy {
  readonly #logger = new Logger(StorageRetries.name);
  #isClosing = false;

  constructor(private readonly grace: ShutdownGrace) {}

  onModuleDestroy(): void {
    this.#isClosing = true;
  }

  /**
   * Repeats a write until the database answers (20 s while it is full), in a shutdown until the grace is over.
   * @param write may be repeated when its outcome is unknown. @throws what it throws
   *   for another reason
   */
  async written<T>(write: () => Promise<T>): Promise<T> {
    const startedMs = performance.now();
    const isFullForLong = () => performance.now() - startedMs > FULL_LIMIT_MS;
    for (let attempts = 1; ; attempts++) {
      try {
        return await write();
      } catch (error) {
        const isPassing =
          error instanceof DomainError &&
          (error.code === 'storage_unavailable' ||
            (error.code === 'storage_full' && !isFullForLong()));
        if (!isPassing || (this.#isClosing && this.grace.leftMs() === 0)) throw error;
        this.#logger.warn(
          { reason: error.message, attempts },
          'the database is away or full; a write is repeated',
        );
      }
      await sleep(backoffMs(attempts, PAUSES));
    }
  }
}

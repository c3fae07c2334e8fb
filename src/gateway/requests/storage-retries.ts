import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ShutdownGrace } from '../scheduler/shutdown-drain.js';

/** A database that is full has room again when a person has made some. */
const PASSING: readonly string[] = ['storage_unavailable', 'storage_full'];
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
   * Repeats a write until the database answers, in a shutdown until the grace is over.
   * @param write may be repeated when its outcome is unknown. @throws what it throws
   *   for another reason
   */
  async written<T>(write: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await write();
      } catch (error) {
        const isPassing = error instanceof DomainError && PASSING.includes(error.code);
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

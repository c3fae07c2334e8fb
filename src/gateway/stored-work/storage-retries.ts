import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ShutdownGrace } from '../lifecycle/shutdown-drain.js';

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
   * @param write may be repeated when its outcome is unknown
   * @param fullForMs how long the database may be full; absent: without limit
   * @throws what `write` throws for another reason
   */
  async written<T>(write: () => Promise<T>, fullForMs = Infinity): Promise<T> {
    const startedMs = performance.now();
    for (let attempts = 1; ; attempts++) {
      try {
        return await write();
      } catch (error) {
        const isPassing =
          error instanceof DomainError &&
          (error.code === 'storage_unavailable' ||
            (error.code === 'storage_full' && performance.now() - startedMs <= fullForMs));
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

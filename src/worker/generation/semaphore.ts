import { Lease } from '../../core/dispatch/lease.js';

interface Waiter {
  readonly grant: (lease: Lease) => void;
}

/**
 * A fixed number of permits, first come first served. A released permit goes directly to
 * the longest waiter, so no newcomer overtakes.
 */
export class Semaphore {
  // A Set keeps insertion order and removes an aborted waiter in O(1).
  readonly #waiters = new Set<Waiter>();
  #available: number;

  /** @param permits whole number >= 1 */
  constructor(permits: number) {
    if (!Number.isInteger(permits) || permits < 1)
      throw new RangeError(
        `A semaphore needs an integer of at least 1 permit; got ${permits}.`,
      );
    this.#available = permits;
  }

  /** Free permits. */
  get available(): number {
    return this.#available;
  }

  /** Callers that wait for a permit. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Resolves with a permit. Rejects with the signal's reason if it aborts first. */
  acquire(signal?: AbortSignal): Promise<Lease> {
    if (signal?.aborted) return Promise.reject(reasonOf(signal));
    if (this.#available > 0) return Promise.resolve(this.#permit());
    return this.#wait(signal);
  }

  #wait(signal: AbortSignal | undefined): Promise<Lease> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        grant: lease => {
          signal?.removeEventListener('abort', abort);
          resolve(lease);
        },
      };
      const abort = (): void => {
        this.#waiters.delete(waiter);
        reject(reasonOf(signal));
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  #permit(): Lease {
    this.#available -= 1;
    return new Lease(() => this.#released());
  }

  #released(): void {
    this.#available += 1;
    const [next] = this.#waiters;
    if (next === undefined) return;
    this.#waiters.delete(next);
    next.grant(this.#permit());
  }
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error
    ? reason
    : new Error('Aborted while waiting for a permit.', { cause: reason });
}

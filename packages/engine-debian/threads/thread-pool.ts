import { EngineError } from '@switchyard/engine-api/coded-error.js';
import { type EngineThread } from '@switchyard/engine-api/threads/engine-thread.js';
import { type NativeThread } from '@switchyard/engine-api/threads/remote-calls.js';

/**
 * Threads of one kind, started when first needed, reused, replaced when dead, never more
 * than `size` at once. A thread is held by one user at a time: that is what keeps two
 * users' audio apart.
 */
export class ThreadPool<T extends NativeThread<T['calls']>> {
  readonly #idle: EngineThread<T>[] = [];
  readonly #held = new Set<EngineThread<T>>();
  readonly #waiting: PromiseWithResolvers<EngineThread<T>>[] = [];
  #closed: Promise<void> | undefined;

  constructor(
    private readonly size: number,
    private readonly start: () => EngineThread<T>,
  ) {}

  get available(): number {
    return this.size - this.#held.size;
  }

  /** A thread for the caller alone, first come first served. Pair with `release`. */
  async acquire(): Promise<EngineThread<T>> {
    if (this.#closed) throw closedError();
    if (this.available === 0) {
      const waiter = Promise.withResolvers<EngineThread<T>>();
      this.#waiting.push(waiter);
      return waiter.promise;
    }
    const thread = this.#takeIdle() ?? this.start();
    this.#held.add(thread);
    try {
      await thread.ready;
      return thread;
    } catch (error) {
      await thread.close();
      this.release(thread);
      throw error;
    }
  }

  release(thread: EngineThread<T>): void {
    if (!this.#held.delete(thread)) return;
    if (thread.alive) this.#idle.push(thread);
    const next = this.#waiting.shift();
    if (next) next.resolve(this.acquire());
  }

  async use<R>(work: (thread: EngineThread<T>) => Promise<R>): Promise<R> {
    const thread = await this.acquire();
    try {
      return await work(thread);
    } finally {
      this.release(thread);
    }
  }

  /** Waits for running calls, ends every thread. Idempotent: the same promise. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(closedError());
    await Promise.all([...this.#idle, ...this.#held].map(thread => thread.close()));
  }

  #takeIdle(): EngineThread<T> | undefined {
    for (;;) {
      const thread = this.#idle.pop();
      if (thread === undefined || thread.alive) return thread;
    }
  }
}

function closedError(): EngineError {
  return new EngineError('engine_failed', 'The engine is closed.');
}

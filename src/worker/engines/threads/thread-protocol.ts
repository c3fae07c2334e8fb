/** What one thread answers: per operation the shapes of request, reply, and of notices sent before the reply. */
export type ThreadProtocol<P> = Record<keyof P, { request: unknown; reply: unknown; notice: unknown }>;

export type Operation<P extends ThreadProtocol<P>> = keyof P & string;

export type ToThread<P extends ThreadProtocol<P>> =
  | { [K in Operation<P>]: { type: 'call'; id: number; operation: K; request: P[K]['request'] } }[Operation<P>]
  | { type: 'close' };

export type FromThread<Info> =
  | { type: 'ready'; info: Info }
  | { type: 'unavailable'; message: string }
  | { type: 'notice'; id: number; notice: unknown }
  | { type: 'reply'; id: number; reply: unknown }
  | { type: 'failed'; id: number; message: string };

/**
 * Raised by the serving loop, read by a thread that is deep inside native work and hears no messages.
 * One flag per call: a thread that finishes one call late can never cancel the next one.
 */
export class CancelFlag {
  readonly #cell: Int32Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.#cell = new Int32Array(memory);
  }

  get raised(): boolean {
    return Atomics.load(this.#cell, 0) === 1;
  }

  raise(): void {
    Atomics.store(this.#cell, 0, 1);
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';

/** 2 MB per turn of the loop: well under a millisecond of copying. */
const SAMPLES_PER_TURN = 1_048_576;

/**
 * Samples in memory that a decoder thread reads without another copy. An hour of audio is
 * 115 MB: posting it would copy it in one go and hold up every other call of the process,
 * so it is copied a slice per turn of the loop.
 */
export async function shareSamples(
  samples: Int16Array,
): Promise<Int16Array<SharedArrayBuffer>> {
  const shared = new Int16Array(new SharedArrayBuffer(samples.byteLength));
  for (let from = 0; from < samples.length; from += SAMPLES_PER_TURN) {
    if (from > 0) await nextTurn();
    shared.set(samples.subarray(from, from + SAMPLES_PER_TURN), from);
  }
  return shared;
}

/**
 * What one thread answers: per operation the shapes of request, reply, and of notices
 * sent before the reply.
 */
export type ThreadProtocol<P> = Record<
  keyof P,
  { request: unknown; reply: unknown; notice: unknown }
>;

export type Operation<P extends ThreadProtocol<P>> = keyof P & string;

export type ToThread<P extends ThreadProtocol<P>> =
  | {
      [K in Operation<P>]: {
        type: 'call';
        id: number;
        operation: K;
        request: P[K]['request'];
      };
    }[Operation<P>]
  | { type: 'close' };

export type FromThread<Info> =
  | { type: 'ready'; info: Info }
  | { type: 'unavailable'; message: string }
  | { type: 'notice'; id: number; notice: unknown }
  | { type: 'reply'; id: number; reply: unknown }
  | { type: 'failed'; id: number; message: string };

/**
 * Raised by the serving loop, read by a thread that is deep inside native work and hears
 * no messages. One flag per call: a thread that finishes one call late can never cancel
 * the next one.
 */
export class CancelFlag {
  readonly #cell: Int32Array;

  constructor(
    readonly memory: SharedArrayBuffer = new SharedArrayBuffer(
      Int32Array.BYTES_PER_ELEMENT,
    ),
  ) {
    this.#cell = new Int32Array(memory);
  }

  get raised(): boolean {
    return Atomics.load(this.#cell, 0) === 1;
  }

  raise(): void {
    Atomics.store(this.#cell, 0, 1);
  }
}

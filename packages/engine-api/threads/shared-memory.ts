import { setImmediate as nextTurn } from 'node:timers/promises';

/** 2 MB per turn of the loop: well under a millisecond of copying. */
const SAMPLES_PER_TURN = 1_048_576;

/**
 * Samples in memory that a decoder thread reads without another copy. An hour of audio is
 * 115 MB: posting it would copy it in one go and hold up every other call of the process,
 * so it is copied a slice per turn of the loop.
 */
export async function shareSamples(samples: Int16Array): Promise<Int16Array<SharedArrayBuffer>> {
  const shared = new Int16Array(new SharedArrayBuffer(samples.byteLength));
  for (let from = 0; from < samples.length; from += SAMPLES_PER_TURN) {
    if (from > 0) await nextTurn();
    shared.set(samples.subarray(from, from + SAMPLES_PER_TURN), from);
  }
  return shared;
}

/**
 * Raised by the serving loop, read by a thread that is deep inside native work and hears
 * no messages. One flag per call: a thread that finishes one call late can never cancel
 * the next one.
 */
export class CancelFlag {
  readonly #cell: Int32Array;

  constructor(
    readonly memory: SharedArrayBuffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
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

/** Flags of the running calls, each raised by its caller's signal. */
export class CancelFlags {
  readonly #flags = new Set<CancelFlag>();

  async during<T>(signal: AbortSignal, work: (flag: CancelFlag) => Promise<T>): Promise<T> {
    const flag = new CancelFlag();
    const raise = (): void => flag.raise();
    signal.addEventListener('abort', raise, { once: true });
    this.#flags.add(flag);
    try {
      return await work(flag);
    } finally {
      this.#flags.delete(flag);
      signal.removeEventListener('abort', raise);
    }
  }

  /** Cancels all calls that have a flag, because the engine ends. */
  raiseAll(): void {
    for (const flag of this.#flags) flag.raise();
  }
}

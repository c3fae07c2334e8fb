import { type Writable } from 'node:stream';

/**
 * Writes at the pace of a sink that may close. Once it is closed, by itself or by
 * `abandon()`, bytes are discarded: the worker's stream must be read to its end, or flow
 * control would block the worker.
 */
export class SinkWriter {
  #gone: boolean;
  #wake: (() => void) | undefined;
  readonly #onGone = () => this.abandon();

  constructor(private readonly sink: Writable) {
    this.#gone = sink.destroyed;
    sink.once('close', this.#onGone);
    sink.once('error', this.#onGone);
    sink.on('drain', this.#onDrain);
  }

  /** It is closed. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Resolves when more may be written. Never rejects. */
  async write(bytes: Buffer): Promise<void> {
    if (this.#gone || this.sink.write(bytes)) return;
    await new Promise<void>(resolve => (this.#wake = resolve));
  }

  abandon(): void {
    this.#gone = true;
    this.#onDrain();
  }

  /**
   * Removes its listeners. Ends the sink only on success; its owner handles a failure.
   */
  finish(succeeded: boolean): void {
    this.sink.off('drain', this.#onDrain);
    this.sink.off('close', this.#onGone);
    this.sink.off('error', this.#onGone);
    if (succeeded && !this.#gone) this.sink.end();
  }

  readonly #onDrain = () => {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  };
}

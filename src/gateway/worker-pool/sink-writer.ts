import { type Writable } from 'node:stream';

/**
 * Writes at the pace of a sink that may go away. Once it is gone, by itself or by `abandon()`, bytes are thrown away:
 * the worker's stream has to be read to its end, or the worker would wait for ever on flow control.
 */
export class SinkWriter {
  #gone = false;
  #wake: (() => void) | undefined;
  readonly #onGone = () => this.abandon();

  constructor(private readonly sink: Writable) {
    this.#gone = sink.destroyed;
    sink.once('close', this.#onGone);
    sink.once('error', this.#onGone);
    sink.on('drain', this.#onDrain);
  }

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

  /** Stops listening. The sink itself is ended only on success; a failed one is its owner's. */
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

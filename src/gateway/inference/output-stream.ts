import { Transform, type TransformCallback } from 'node:stream';
import { type DomainError } from '../../core/shared/domain-error.js';

/** Output of a request on its way to one caller while the worker still makes it. */
export abstract class OutputStream {
  /** What the caller receives. */
  readonly body: Transform;
  /**
   * Resolves at the first output, or at the end of an answer that has none. Stays pending after a failure before that.
   */
  readonly started: Promise<void>;
  /** Called for each piece of output; set by `InferenceService`. */
  onOutput: () => void = () => undefined;
  #start!: () => void;
  #failure: DomainError | undefined;

  /**
   * @param maxBufferedBytes that wait for a slow caller; beyond that the worker is held back. Absent: Node's default
   */
  constructor(maxBufferedBytes?: number) {
    this.started = new Promise(resolve => (this.#start = resolve));
    this.body = new Transform({
      writableHighWaterMark: maxBufferedBytes,
      transform: (chunk: Buffer, _encoding, done: TransformCallback) => {
        this.onOutput();
        this.#start();
        done(null, this.format(chunk));
      },
      flush: done => {
        if (!this.#failure) this.#start();
        void Promise.resolve(this.lastFrame(this.#failure)).then(frame => done(null, frame), done);
      },
    });
    // A caller that left destroys the stream; the writer learns that from its own pipe or from the cancellation.
    this.body.on('error', () => undefined);
  }

  /** True while output waits for the caller: a pause then says nothing about the worker. */
  get held(): boolean {
    return this.body.writableNeedDrain;
  }

  /** Ends the stream. Output so far is still sent, then the failure. Only the first call has an effect. */
  fail(error: DomainError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.endFailed(error);
  }

  protected endFailed(_error: DomainError): void {
    this.body.end();
  }

  protected abstract format(chunk: Buffer): Buffer | string;

  /** May wait, for what has to be done before the caller sees the end. */
  protected abstract lastFrame(failure: DomainError | undefined): string | undefined | Promise<string | undefined>;
}

import { Duplex } from 'node:stream';
import { type DomainError } from '../../core/errors/domain-error.js';

/** Output of a request on its way to one caller while the worker still makes it. */
export abstract class OutputStream {
  /** What the caller receives. */
  readonly body: Duplex;
  /**
   * Resolves at the first output, or at the end of an answer that has none. Stays pending
   * after a failure before that.
   */
  readonly started: Promise<void>;
  #onOutput: (() => void) | undefined;
  #start!: () => void;
  /** Takes more, once what waits for the caller has room again. */
  #resume: (() => void) | undefined;
  #failure: DomainError | undefined;

  /**
   * @param maxBufferedBytes that wait for a slow caller; beyond that the worker is held
   *   back. Absent: Node's default
   */
  constructor(maxBufferedBytes?: number) {
    this.started = new Promise(resolve => (this.#start = resolve));
    this.body = new Duplex({
      writableHighWaterMark: maxBufferedBytes,
      write: (chunk: Buffer, _encoding, done) => this.#pass([chunk], done),
      writev: (waiting, done) =>
        this.#pass(
          waiting.map(({ chunk }) => chunk as Buffer),
          done,
        ),
      read: () => this.#read(),
      final: done => {
        if (!this.#failure) this.#start();
        void Promise.resolve(this.lastFrame(this.#failure)).then(frame => {
          if (frame !== undefined) this.body.push(frame);
          this.body.push(null);
          done();
        }, done);
      },
    });
    // A caller that left destroys the stream; the writer learns that from its own pipe or
    // from the cancellation.
    this.body.on('error', () => undefined);
  }

  /**
   * True while output waits for the caller: a pause then says nothing about the worker.
   */
  get held(): boolean {
    return this.body.writableNeedDrain;
  }

  /** From now on `onOutput` is called for each piece of output. */
  watch(onOutput: () => void): void {
    this.#onOutput = onOutput;
  }

  /** Sends what is no output, such as a comment. For as long as the stream is open. */
  notice(frame: string): void {
    if (!this.body.writableEnded) this.body.push(frame);
  }

  /**
   * Ends the stream. Output so far is still sent, then the failure. Only the first call
   * has an effect.
   */
  fail(error: DomainError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.endFailed(error);
  }

  /**
   * What comes until the next tick, such as all that one packet held, leaves as one
   * piece: one write to the caller.
   */
  #pass(chunks: readonly Buffer[], done: () => void): void {
    const frames = chunks.map(chunk => {
      this.#onOutput?.();
      return this.format(chunk);
    });
    this.#start();
    const [first = ''] = frames;
    const isRoom = this.body.push(
      frames.length === 1
        ? first
        : Buffer.concat(frames.map(frame => Buffer.from(frame))),
    );
    if (isRoom) process.nextTick(done);
    else this.#resume = done;
  }

  #read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  protected endFailed(_error: DomainError): void {
    this.body.end();
  }

  protected abstract format(chunk: Buffer): Buffer | string;

  /** May wait, for what has to be done before the caller sees the end. */
  protected abstract lastFrame(
    failure: DomainError | undefined,
  ): string | undefined | Promise<string | undefined>;
}

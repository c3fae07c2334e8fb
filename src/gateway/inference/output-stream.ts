import { Duplex } from 'node:stream';
import { type FastifyReply } from 'fastify';
import { SSE_CONTENT_TYPE } from '../../contracts/formats/server-sent-event.js';
import { type DomainError } from '../../core/errors/domain-error.js';

/** How output is written for its caller. */
export interface OutputForm {
  /** Default: server-sent events. */
  readonly contentType?: string;
  /** @param chunk a piece as the worker made it */
  format(chunk: Buffer): Buffer | string;
  /** May wait, for what has to be done before the caller sees the end. */
  lastFrame(failure: DomainError | undefined): string | undefined | Promise<string | undefined>;
}

/** Of text: longer than any answer, so that only who does not read holds the worker back. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Output of a request on its way to one caller while the worker still makes it. What is
 * written is the worker's, what is read the caller's. `writableNeedDrain` while output
 * waits for the caller: a pause then says nothing about the worker.
 */
export class OutputStream extends Duplex {
  /**
   * Resolves at the first output, or at the end of an answer that has none. Stays pending
   * after a failure before that.
   */
  readonly started: Promise<void>;
  /** Called for each piece of output. */
  onOutput: (() => void) | undefined;
  readonly #start: () => void;
  /** Takes more, once what waits for the caller has room again. */
  #resume: (() => void) | undefined;
  #failure: DomainError | undefined;

  /**
   * @param maxBufferedBytes that wait for a slow caller; beyond that the worker is held
   *   back
   */
  constructor(
    private readonly form: OutputForm,
    maxBufferedBytes = MAX_BUFFERED_BYTES,
  ) {
    super({ writableHighWaterMark: maxBufferedBytes });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.started = promise;
    this.#start = resolve;
    // A caller that left destroys the stream; the writer learns that from its own pipe or
    // from the cancellation.
    this.on('error', () => undefined);
  }

  /** Sends what is no output, such as a comment. For as long as the stream is open. */
  notice(frame: string): void {
    if (!this.writableEnded) this.push(frame);
  }

  /**
   * Ends the stream. Output so far is still sent, then the failure. Only the first call
   * has an effect.
   */
  fail(error: DomainError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.end();
  }

  /**
   * What comes until the next tick, such as all that one packet held, leaves as one
   * piece: one write to the caller.
   */
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    const frames: (Buffer | string)[] = [];
    for (const { chunk } of chunks) {
      this.onOutput?.();
      frames.push(this.form.format(chunk));
    }
    this.#start();
    const [first = ''] = frames;
    const isRoom = this.push(
      frames.length === 1 ? first : Buffer.concat(frames.map(frame => Buffer.from(frame))),
    );
    if (isRoom) process.nextTick(done);
    else this.#resume = done;
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _final(done: (error?: Error) => void): void {
    if (!this.#failure) this.#start();
    void Promise.resolve(this.form.lastFrame(this.#failure)).then(frame => {
      if (frame !== undefined) this.push(frame);
      this.push(null);
      done();
    }, done);
  }
}

/** Output as it comes, which no proxy may keep or collect. */
export const sendEvents = (
  reply: FastifyReply,
  headers: Record<string, string>,
  events: NodeJS.ReadableStream,
  contentType: string = SSE_CONTENT_TYPE,
): void =>
  void reply
    .headers({ ...headers, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
    .type(contentType)
    .send(events);

import { type ClientDuplexStream } from '@grpc/grpc-js';
import { within } from '@switchyard/engine-api/process/within.js';
import {
  decodeStreamEvent,
  STREAM_COMMIT,
  audioMessage,
  type StreamConfig,
  streamConfigMessage,
  type StreamEvent,
} from '@switchyard/worker-protocol/call.codec.js';
import {
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import { type WorkerChannel } from '@switchyard/worker-protocol/worker-channel.js';
import { decodeFailure } from '../contracts/errors/status.codec.js';
import { WorkerLostError } from '../core/request/worker-lost.js';
import { CallProgress } from './worker-call.js';

/**
 * Longest that a caller waits for a cancel; the slot stays taken until the worker has
 * ended the stream.
 */
const CANCEL_MS = 50;

/** Of a recogniser: partials come every few hundred milliseconds, and change. */
export const AGREEMENT = 3;

/** One live stream. It ends by `close()`, by `cancel()`, or with the worker. */
export interface StreamHandle {
  /** Partial texts in a row that must agree on a word before it is sent. */
  readonly agreement: number;
  /**
   * The worker has ended the stream, for whatever reason: its slot is
   * free. Never rejects.
   */
  readonly finished: Promise<void>;
  /**
   * Resolves when the worker has room for more, or is gone, which
   * `receiveEvents` reports.
   * @param data PCM s16le mono at the configured rate, cut anywhere
   * @param isLast nothing follows: the last utterance is finished
   */
  sendFrame(data: Buffer, isLast?: boolean): Promise<void>;
  /**
   * Finishes the utterance now, with exactly one `final`; what is sent afterwards belongs
   * to the next one.
   */
  commit(): Promise<void>;
  /**
   * To be iterated once, to the end. Ends after `close()` and `cancel()`.
   * @throws DomainError `worker_lost` when another worker may continue, `queue_full` when the
   *   worker had no free place
   */
  receiveEvents(): AsyncGenerator<StreamEvent>;
  /**
   * No further audio; the last utterance is finished. Resolves when the worker has ended
   * the stream. Read events meanwhile.
   */
  close(): Promise<void>;
  /**
   * Stops without a final, and without further events. Resolves within 50 ms and never
   * rejects; idempotent: the same promise.
   */
  cancel(): Promise<void>;
}

/**
 * One live stream on one worker (D-20): frames and commits go up in order, at the pace of
 * the worker; events come down.
 */
export class WorkerStream extends CallProgress implements StreamHandle {
  readonly agreement = AGREEMENT;
  readonly #call: ClientDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>;
  #halfClosed = false;
  #cancelled: Promise<void> | undefined;

  /**
   * @throws DomainError `worker_lost` when the worker went away before the stream began.
   */
  constructor(
    private readonly options: {
      readonly config: StreamConfig;
      readonly channel: WorkerChannel;
      /** How long the worker may take to end a stream that was closed. */
      readonly resetAfterMs: number;
      /**
       * Asks the worker to end the stream, until it has, or until `lose()` is called
       * in its place.
       */
      stop(stream: WorkerStream): void;
    },
  ) {
    super('');
    const { channel } = options;
    this.#call = channel.track(() => channel.stt.transcribeStream(), this);
    // `receiveEvents` throws it; without a listener the error of an unread stream would
    // end the process.
    this.#call.on('error', () => undefined);
    this.#call.write(streamConfigMessage(options.config));
  }

  async sendFrame(data: Buffer, isLast = false): Promise<void> {
    await this.#send(audioMessage(data));
    if (isLast) this.#halfClose();
  }

  commit(): Promise<void> {
    return this.#send(STREAM_COMMIT);
  }

  async *receiveEvents(): AsyncGenerator<StreamEvent> {
    try {
      for await (const message of this.#call) {
        const event = decodeStreamEvent(message as TranscribeStreamResponse);
        if (event && event !== 'ready' && !this.#cancelled) yield event;
      }
    } catch (error) {
      if (!this.#cancelled) throw this.lostBy ?? decodeFailure(error);
      return;
    }
    if (!this.#halfClosed && !this.#cancelled)
      throw new WorkerLostError('refused', 'The worker ended the stream.');
  }

  async close(): Promise<void> {
    this.#halfClose();
    if (!(await this.#endsWithin(this.options.resetAfterMs))) this.#call.cancel();
    await this.finished;
  }

  cancel(): Promise<void> {
    return (this.#cancelled ??= this.#cancel());
  }

  async #cancel(): Promise<void> {
    if (this.hasEnded) return;
    // Unread events would hold the end of the call back.
    this.#call.resume();
    this.options.stop(this);
    await this.#endsWithin(CANCEL_MS);
  }

  async #endsWithin(limitMs: number): Promise<boolean> {
    await within(limitMs, this.finished);
    return this.hasEnded;
  }

  #halfClose(): void {
    if (this.#halfClosed || this.hasEnded) return;
    this.#halfClosed = true;
    this.#call.end();
  }

  async #send(message: TranscribeStreamRequest): Promise<void> {
    if (this.hasEnded || this.#halfClosed || this.#call.write(message)) return;
    let taken: () => void = () => undefined;
    const drained = new Promise<void>(resolve => this.#call.once('drain', (taken = resolve)));
    await Promise.race([drained, this.finished]);
    this.#call.off('drain', taken);
  }
}

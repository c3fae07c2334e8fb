import { type ClientDuplexStream } from '@grpc/grpc-js';
import { decodeFailure } from '../../contracts/grpc/status.codec.js';
import {
  decodeStreamEvent,
  STREAM_COMMIT,
  streamAudioMessage,
  type StreamConfig,
  streamConfigMessage,
  type StreamEvent,
} from '../../contracts/grpc/stream.codec.js';
import { type TranscribeStreamRequest, type TranscribeStreamResponse } from '../../contracts/grpc/stt.codec.js';
import { DomainError } from '../../core/shared/domain-error.js';

/** Longest wait for a worker's answer to a cancel; then the call is broken off from here (seeds/scheduling: 50 ms). */
const CANCEL_MS = 50;

type StreamCall = ClientDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>;

export interface StreamHandleOptions {
  readonly workerId: string;
  readonly config: StreamConfig;
  /** Starts the RPC on a channel that stays open until it ends. @throws DomainError `worker_lost` */
  start(): StreamCall;
  /** The Cancel RPC. Never rejects. */
  askToCancel(sessionId: string, timeoutMs: number): Promise<unknown>;
}

/**
 * One live stream on one worker (seeds/scheduling "Streaming gRPC Client"; D-20): frames and commits go up in order, at the
 * pace of the worker; events come down. It ends by `close()`, by `cancel()`, or with the worker.
 */
export class StreamHandle {
  /** The worker let go, whatever the reason: its place is free. Never rejects. */
  readonly finished: Promise<void>;
  readonly #call: StreamCall;
  #ended = false;
  #halfClosed = false;
  #cancelled: Promise<void> | undefined;

  /** @throws DomainError `worker_lost` when the worker went away before the stream began. */
  constructor(private readonly options: StreamHandleOptions) {
    this.#call = options.start();
    this.finished = new Promise(resolve =>
      this.#call.once('status', () => {
        this.#ended = true;
        resolve();
      }),
    );
    // Told to whoever iterates the events; without a listener the failure of an unread stream would end the process.
    this.#call.on('error', () => undefined);
    this.#call.write(streamConfigMessage(options.config));
  }

  get workerId(): string {
    return this.options.workerId;
  }

  /**
   * Resolves when the worker has room for more, or is gone, which `receiveEvents` tells.
   * @param data PCM s16le mono at the configured rate, cut anywhere
   * @param isLast nothing follows: the last utterance is finished
   */
  async sendFrame(data: Buffer, isLast = false): Promise<void> {
    await this.#send(streamAudioMessage(data));
    if (isLast) this.#halfClose();
  }

  /** Finishes the utterance now, with exactly one `final`; what is sent afterwards belongs to the next one. */
  commit(): Promise<void> {
    return this.#send(STREAM_COMMIT);
  }

  /**
   * To be iterated once, to its end. Ends after `close()` and `cancel()`.
   * @throws DomainError `worker_lost` when another worker may go on, `queue_full` when the worker had no place after all.
   */
  async *receiveEvents(): AsyncGenerator<StreamEvent> {
    try {
      for await (const message of this.#call) {
        const event = decodeStreamEvent(message as TranscribeStreamResponse);
        if (event && event !== 'ready') yield event;
      }
    } catch (error) {
      if (!this.#cancelled) throw decodeFailure(error);
      return;
    }
    if (!this.#halfClosed && !this.#cancelled) throw new DomainError('worker_lost', 'The worker ended the stream.');
  }

  /** Nothing more is said; the last utterance is finished. Resolves when the worker let go. Events must be read meanwhile. */
  close(): Promise<void> {
    this.#halfClose();
    return this.finished;
  }

  /** Stops without a final. Resolves within 50 ms and never rejects; idempotent: the same promise. */
  cancel(): Promise<void> {
    return (this.#cancelled ??= this.#cancel());
  }

  /** The Cancel RPC asks, so that the worker's place is free when this one is; a worker that does not hear is left. */
  async #cancel(): Promise<void> {
    if (this.#ended) return;
    // Unread events would hold the end of the call back.
    this.#call.resume();
    let timer: NodeJS.Timeout | undefined;
    const timeIsUp = new Promise<void>(resolve => (timer = setTimeout(resolve, CANCEL_MS)));
    void this.options.askToCancel(this.options.config.sessionId, CANCEL_MS);
    await Promise.race([this.finished, timeIsUp]);
    clearTimeout(timer);
    if (!this.#ended) this.#call.cancel();
    await this.finished;
  }

  #halfClose(): void {
    if (this.#halfClosed || this.#ended) return;
    this.#halfClosed = true;
    this.#call.end();
  }

  async #send(message: TranscribeStreamRequest): Promise<void> {
    if (this.#ended || this.#halfClosed || this.#call.write(message)) return;
    let taken: () => void = () => undefined;
    const drained = new Promise<void>(resolve => this.#call.once('drain', (taken = resolve)));
    await Promise.race([drained, this.finished]);
    this.#call.off('drain', taken);
  }
}

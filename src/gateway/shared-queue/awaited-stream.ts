import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { AGREEMENT, type StreamHandle } from '../../worker-client/stream-handle.js';

/** A live stream that begins when it has a slot; one that gets none has ended. */
export class AwaitedStream implements StreamHandle {
  readonly agreement = AGREEMENT;
  readonly finished: Promise<void>;
  /** Undefined: it has no slot. */
  readonly #begun: Promise<StreamHandle | undefined>;
  #cancelled: Promise<void> | undefined;
  #cancel: () => Promise<void> = () => Promise.resolve();

  /** @param stream rejects with a DomainError when there is no slot */
  constructor(private readonly stream: Promise<StreamHandle>) {
    this.#begun = stream.then(
      begun => {
        this.#cancel = () => begun.cancel();
        if (this.#cancelled) void begun.cancel();
        return begun;
      },
      () => undefined,
    );
    this.finished = this.#begun.then(begun => begun?.finished);
  }

  async sendFrame(data: Buffer, isLast?: boolean): Promise<void> {
    await (await this.#begun)?.sendFrame(data, isLast);
  }

  async commit(): Promise<void> {
    await (await this.#begun)?.commit();
  }

  async *receiveEvents(): AsyncGenerator<StreamEvent> {
    await this.#begun;
    if (!this.#cancelled) yield* (await this.stream).receiveEvents();
  }

  async close(): Promise<void> {
    await (await this.#begun)?.close();
  }

  /** One that waits for its slot is cancelled when it has one. */
  cancel(): Promise<void> {
    return (this.#cancelled ??= this.#cancel());
  }
}

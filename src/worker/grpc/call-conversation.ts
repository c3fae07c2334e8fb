import { once } from 'node:events';
import { type ServerDuplexStream } from '@grpc/grpc-js';
import { abortError } from '../../core/errors/abort-error.js';

/**
 * A bidirectional call: read the next message, write one. Nothing is read ahead, and
 * nothing is written into a full pipe, so a slow side slows the other (HTTP/2 flow
 * control) instead of filling memory.
 */
export class CallConversation<Received, Sent> {
  constructor(
    private readonly call: ServerDuplexStream<Received, Sent>,
    private readonly signal?: AbortSignal,
  ) {}

  /** The same conversation, ended by `signal`. */
  until(signal: AbortSignal): CallConversation<Received, Sent> {
    return new CallConversation(this.call, signal);
  }

  /** Undefined when the caller has ended the stream. @throws the abort's error */
  async next(): Promise<Received | undefined> {
    for (;;) {
      const message = this.call.read() as Received | null;
      if (message !== null) return message;
      if (this.call.readableEnded || this.call.destroyed) return undefined;
      await this.#unlessAborted(readable(this.call));
    }
  }

  /** All messages until the caller ends the stream. @throws the abort's error */
  async *rest(): AsyncGenerator<Received> {
    for (let message = await this.next(); message; message = await this.next())
      yield message;
  }

  /** Resolves when there is room for more. @throws the abort's error. */
  async send(message: Sent): Promise<void> {
    this.signal?.throwIfAborted();
    if (!this.call.write(message)) await this.#unlessAborted(once(this.call, 'drain'));
  }

  /**
   * grpc-js reports a lost client only by an event, and reading would wait for ever, so
   * the signal is raced.
   */
  async #unlessAborted<T>(promise: Promise<T>): Promise<T> {
    const signal = this.signal;
    if (!signal) return promise;
    // Not awaited after an abort: its rejection, when the call ends, would otherwise
    // end the process.
    promise.catch(() => undefined);
    if (signal.aborted) throw abortError(signal);
    let abandon = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      abandon = () => reject(abortError(signal));
      signal.addEventListener('abort', abandon, { once: true });
    });
    try {
      return await Promise.race([promise, aborted]);
    } finally {
      signal.removeEventListener('abort', abandon);
    }
  }
}

/**
 * Resolves when there is a message, or none will follow. The stream's own iterator is not
 * used: it destroys the stream when the call fails, and a status is never sent while an
 * earlier message is still being written.
 */
async function readable(call: ServerDuplexStream<unknown, unknown>): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    await Promise.race(
      ['readable', 'end', 'close'].map(event => once(call, event, { signal })),
    );
  } finally {
    waiting.abort();
  }
}

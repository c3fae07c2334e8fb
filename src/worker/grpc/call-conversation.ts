import { once } from 'node:events';
import { type ServerDuplexStream } from '@grpc/grpc-js';
import { abortError } from '../../core/shared/abort-error.js';

/**
 * A bidirectional call as a conversation: ask for the next message, say something. Nothing is read ahead and nothing is
 * written into a full pipe, so a slow side slows the other (HTTP/2 flow control) instead of filling memory.
 */
export class CallConversation<Heard, Said> {
  readonly #call: ServerDuplexStream<Heard, Said>;
  readonly #signal: AbortSignal | undefined;

  constructor(call: ServerDuplexStream<Heard, Said>, signal?: AbortSignal) {
    this.#call = call;
    this.#signal = signal;
  }

  /** The same conversation, from now on broken off by `signal`. */
  until(signal: AbortSignal): CallConversation<Heard, Said> {
    return new CallConversation(this.#call, signal);
  }

  /** Undefined when the caller has said all. @throws the abort's error. */
  async next(): Promise<Heard | undefined> {
    for (;;) {
      const message = this.#call.read() as Heard | null;
      if (message !== null) return message;
      if (this.#call.readableEnded || this.#call.destroyed) return undefined;
      await this.#unlessAborted(somethingToRead(this.#call));
    }
  }

  /** Resolves when there is room for more. @throws the abort's error. */
  async say(message: Said): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!this.#call.write(message)) await this.#unlessAborted(once(this.#call, 'drain'));
  }

  /** grpc-js reports a lost client by an event only, and reading would wait for ever: so the signal is raced. */
  async #unlessAborted<T>(promise: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (!signal) return promise;
    // After an abort nobody waits for it any more; its rejection, when the call ends, would end the process.
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
 * Resolves when there is a message, or none will follow. Not the stream's own iterator: that one destroys the stream when the call
 * fails, and a status is never sent while an earlier message is still being written.
 */
async function somethingToRead(call: ServerDuplexStream<unknown, unknown>): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    await Promise.race(['readable', 'end', 'close'].map(event => once(call, event, { signal })));
  } finally {
    waiting.abort();
  }
}

import { once } from 'node:events';
import { type ServerDuplexStream } from '@grpc/grpc-js';
import { abortError } from '../execution/work-item.js';

/**
 * A bidirectional call as a conversation: ask for the next message, say something. Nothing is read ahead and nothing is
 * written into a full pipe, so a slow side slows the other (HTTP/2 flow control) instead of filling memory.
 */
export class CallConversation<Heard, Said> {
  readonly #call: ServerDuplexStream<Heard, Said>;
  readonly #messages: AsyncIterator<Heard>;
  readonly #signal: AbortSignal | undefined;

  constructor(call: ServerDuplexStream<Heard, Said>, messages?: AsyncIterator<Heard>, signal?: AbortSignal) {
    this.#call = call;
    this.#messages = messages ?? (call[Symbol.asyncIterator]() as AsyncIterator<Heard>);
    this.#signal = signal;
  }

  /** The same conversation, from now on broken off by `signal`. */
  until(signal: AbortSignal): CallConversation<Heard, Said> {
    return new CallConversation(this.#call, this.#messages, signal);
  }

  /** Undefined when the caller has said all. @throws the abort's error. */
  async next(): Promise<Heard | undefined> {
    const result = await this.#unlessAborted(this.#messages.next());
    return result.done ? undefined : result.value;
  }

  /** Resolves when there is room for more. @throws the abort's error. */
  async say(message: Said): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!this.#call.write(message)) await this.#unlessAborted(once(this.#call, 'drain'));
  }

  /** grpc-js tells a lost client by an event only, the iteration would wait for ever: so the signal is raced. */
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

import { once } from 'node:events';
import { type ServerDuplexStream, type ServerWritableStream } from '@grpc/grpc-js';
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
      await readable(this.call, this.signal);
    }
  }

  /** All messages until the caller ends the stream. @throws the abort's error */
  async *rest(): AsyncGenerator<Received> {
    for (let message = await this.next(); message; message = await this.next()) yield message;
  }

  /** Resolves when there is room for more. @throws the abort's error. */
  send(message: Sent): Promise<void> {
    return writePaced(this.call, message, this.signal);
  }
}

/**
 * Resolves when there is a message, or none will follow. The stream's own iterator is not
 * used: it destroys the stream when the call fails, and a status is never sent while an
 * earlier message is still being written. grpc-js reports a lost client only by an event,
 * and reading would wait for ever, so the signal ends the wait.
 */
async function readable(
  call: ServerDuplexStream<unknown, unknown>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  try {
    await Promise.race(
      ['readable', 'end', 'close'].map(event => once(call, event, { signal: waiting.signal })),
    );
  } catch (error) {
    throw signal?.aborted ? abortError(signal) : error;
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

/**
 * Writes at the pace of the reader: only HTTP/2's window is buffered. Resolves when there
 * is room for more. @throws the abort's error
 */
export async function writePaced<Message>(
  call: ServerWritableStream<unknown, Message> | ServerDuplexStream<unknown, Message>,
  message: Message,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted) throw abortError(signal);
  if (call.write(message)) return;
  try {
    await once(call, 'drain', { signal });
  } catch (error) {
    throw signal?.aborted ? abortError(signal) : error;
  }
}

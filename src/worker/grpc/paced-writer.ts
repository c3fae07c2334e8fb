import { once } from 'node:events';
import { type ServerWritableStream } from '@grpc/grpc-js';
import { abortError } from '../execution/work-item.js';

/**
 * Writes a stream of answers at the pace of its reader: HTTP/2's window is all that is held. What Nest writes of an Observable it
 * would pile up without bound for a reader that stopped.
 */
export class PacedWriter<Said> {
  constructor(
    private readonly call: ServerWritableStream<unknown, Said>,
    private readonly signal: AbortSignal,
  ) {}

  /** Resolves when there is room for more. @throws the abort's error. */
  async write(message: Said): Promise<void> {
    const { call, signal } = this;
    if (signal.aborted) throw abortError(signal);
    if (call.write(message)) return;
    try {
      await once(call, 'drain', { signal });
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error;
    }
  }
}

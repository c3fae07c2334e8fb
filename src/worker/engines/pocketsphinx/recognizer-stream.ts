import { DomainError } from '../../../core/shared/domain-error.js';
import { type RecognizerEvent, type RecognizerStream } from '../engine.js';
import { type EngineThread } from '../threads/engine-thread.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { type LiveDecoderProtocol } from './decoder-protocol.js';

/** A live stream on a decoder thread of its own; the thread goes back for reuse when the stream closes. */
export class PocketSphinxStream implements RecognizerStream {
  readonly #cancel = new CancelFlag();
  #closed: Promise<void> | undefined;

  constructor(
    private readonly thread: EngineThread<LiveDecoderProtocol>,
    partials: boolean,
    private readonly release: () => void,
  ) {
    // Not waited for: the thread may still be ending the utterance of a stream that was cancelled. One that died says so to `push`.
    this.thread.call('open', { partials, cancel: this.#cancel.memory }).catch(() => undefined);
  }

  async push(samples: Int16Array): Promise<readonly RecognizerEvent[]> {
    this.#requireOpen();
    const own = samples.slice();
    return this.thread.call('push', { samples: own }, { transfer: [own.buffer] });
  }

  async commit(): Promise<readonly RecognizerEvent[]> {
    this.#requireOpen();
    return this.thread.call('commit', undefined);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#cancel.raise();
    // A thread that died has nothing to close; the pool replaces it.
    await this.thread.call('close', undefined).catch(() => undefined);
    this.release();
  }

  #requireOpen(): void {
    if (this.#closed) throw new DomainError('engine_failed', 'The stream is closed.');
  }
}

import { EngineError } from '@switchyard/engine-api/coded-error.js';
import { type RecognizerEvent } from '@switchyard/engine-api/speech-recognizer.js';
import { type RecognizerStream } from '@switchyard/engine-api/speech-recognizer.js';
import { type EngineThread } from '@switchyard/engine-api/threads/engine-thread.js';
import { type RecognizerProtocol } from './protocol.js';

/** A live stream on the model's one thread, decoded together with the others. */
export class SherpaStream implements RecognizerStream {
  #closed: Promise<void> | undefined;

  constructor(
    private readonly thread: EngineThread<RecognizerProtocol>,
    private readonly id: number,
    private readonly release: () => void,
  ) {}

  async push(samples: Int16Array): Promise<readonly RecognizerEvent[]> {
    this.#requireOpen();
    const own = samples.slice();
    return this.thread.call(
      'push',
      { id: this.id, samples: own },
      { transfer: [own.buffer] },
    );
  }

  async commit(): Promise<readonly RecognizerEvent[]> {
    this.#requireOpen();
    return this.thread.call('commit', { id: this.id });
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    // A thread that died has nothing to close.
    await this.thread.call('close', { id: this.id }).catch(() => undefined);
    this.release();
  }

  #requireOpen(): void {
    if (this.#closed) throw new EngineError('engine_failed', 'The stream is closed.');
  }
}

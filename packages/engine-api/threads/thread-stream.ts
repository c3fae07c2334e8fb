import { EngineError } from '../coded-error.js';
import { type RecognizerEvent, type RecognizerStream } from '../speech-recognizer.js';

interface StreamCalls {
  /** @param samples its own copy, which may be handed over */
  push(samples: Int16Array<ArrayBuffer>): Promise<readonly RecognizerEvent[]>;
  commit(): Promise<readonly RecognizerEvent[]>;
  /** Once; never rejects. */
  close(): Promise<void>;
}

/** A live stream whose audio another thread decodes. */
export class ThreadStream implements RecognizerStream {
  #closed: Promise<void> | undefined;

  constructor(private readonly calls: StreamCalls) {}

  async push(samples: Int16Array): Promise<readonly RecognizerEvent[]> {
    this.#requireOpen();
    return this.calls.push(samples.slice());
  }

  async commit(): Promise<readonly RecognizerEvent[]> {
    this.#requireOpen();
    return this.calls.commit();
  }

  close(): Promise<void> {
    return (this.#closed ??= this.calls.close());
  }

  #requireOpen(): void {
    if (this.#closed) throw new EngineError('engine_failed', 'The stream is closed.');
  }
}

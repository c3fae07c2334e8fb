import { Transform, type TransformCallback } from 'node:stream';
import { DomainError } from '../../core/shared/domain-error.js';
import { type SpeechSink } from '../worker-pool/worker-task.js';

/**
 * Audio on its way from a worker to one caller. Up to `maxBufferedBytes` wait for a caller that reads slowly; beyond
 * that the worker is held back.
 */
export class SpeechStream implements SpeechSink {
  readonly audio: Transform;
  /** Resolves at the first byte, or at the end of a synthesis that made none. */
  readonly started: Promise<void>;
  #bytes = 0;

  constructor(maxBufferedBytes: number) {
    let start: () => void;
    this.started = new Promise(resolve => (start = resolve));
    this.audio = new Transform({
      writableHighWaterMark: maxBufferedBytes,
      transform: (chunk: Buffer, _encoding, done: TransformCallback) => {
        this.#bytes += chunk.length;
        start();
        done(null, chunk);
      },
      flush: done => {
        start();
        done();
      },
    });
    // A caller that left destroys the stream; whoever still writes to it learns that from its own pipe.
    this.audio.on('error', () => undefined);
  }

  /**
   * The worker begins. Once audio went out, a second beginning (a retry after the worker's death) is refused: the caller
   * would hear the sentence start over.
   * @throws DomainError `worker_lost`
   */
  header(): void {
    if (this.#bytes > 0) throw new DomainError('worker_lost', 'The worker died in the middle of the speech.');
  }

  fail(error: Error): void {
    this.audio.destroy(error);
  }
}

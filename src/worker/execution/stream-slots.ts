import { Inject, Injectable } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { Lease } from '../../core/dispatch/lease.js';
import { RECOGNIZER } from '../engines/worker-engine.js';
import {
  type RecognizerStream,
  type RecognizerStreamOptions,
  type SpeechRecognizer,
} from '@switchyard/engine-api/speech-recognizer.js';

export interface OpenStream {
  readonly stream: RecognizerStream;
  readonly lease: Lease;
}

/** Slots for live streams, separate from file slots (D-20). */
@Injectable()
export class StreamSlots {
  #taken = 0;

  constructor(@Inject(RECOGNIZER) private readonly engine: SpeechRecognizer) {}

  get taken(): number {
    return this.#taken;
  }

  /**
   * @throws DomainError `unsupported_task` when the engine has no streams, `queue_full`
   *   when all are taken.
   */
  async open(options: RecognizerStreamOptions): Promise<OpenStream> {
    const lease = this.#lease();
    try {
      return { stream: await this.#stream(options), lease };
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  #stream(options: RecognizerStreamOptions): Promise<RecognizerStream> {
    if (this.engine.openStream) return this.engine.openStream(options);
    throw new DomainError('unsupported_task', 'This model has no live streams.');
  }

  #lease(): Lease {
    const { streams } = this.engine.info;
    if (this.#taken >= streams && streams > 0)
      throw new DomainError(
        'queue_full',
        `All ${streams} live streams of this worker are taken.`,
        {
          retryAfterMs: 1000,
        },
      );
    this.#taken += 1;
    return new Lease(() => (this.#taken -= 1));
  }
}

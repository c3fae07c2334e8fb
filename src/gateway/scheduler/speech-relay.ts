import { type JobSpeech } from '../../contracts/queue-jobs/job-result.js';
import { type SpeechPiece } from '../../contracts/queue-jobs/queue-speech.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { SinkWriter } from '../worker-pool/sink-writer.js';
import { type SpeechSink } from '../worker-pool/worker-task.js';

/** Reads a blob from a position on. */
export type ReadFrom = (blob: string, from: number) => AsyncIterable<Uint8Array>;

/**
 * Speech of a worker that pulls, on its way to its listener: pieces while they are made, and from the blob store what was missed or
 * what the listener was too slow for.
 */
export class SpeechRelay {
  /** Pieces that came before it was known that a worker has the request. */
  #held: SpeechPiece[] | undefined = [];
  #blob: string | undefined;
  #sent = 0;
  /** The rest comes from the blob: a piece is missing, or the listener reads slowly. */
  #behind = false;

  constructor(private readonly sink: SpeechSink) {}

  /** Some of it is on its way: another worker must not begin anew. */
  get begun(): boolean {
    return this.#sent > 0;
  }

  /** A worker has the request: from now on pieces go to the listener. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const piece of held) this.#send(piece);
  }

  /** True: it is held until `open`. */
  piece(piece: SpeechPiece): boolean {
    if (this.#held) this.#held.push(piece);
    else this.#send(piece);
    return this.#held !== undefined;
  }

  /**
   * All of it is made: the rest is sent, at the listener's pace.
   * @throws DomainError `worker_lost` when what was sent is of another attempt, `request_cancelled` when the listener went away; what
   * reading throws
   */
  async complete({ blob, contentType, sampleRate }: JobSpeech, read: ReadFrom): Promise<void> {
    this.open();
    this.#behind = true;
    if (this.begun && blob !== this.#blob) throw lostMidway();
    const writer = new SinkWriter(this.sink.audio);
    let succeeded = false;
    try {
      if (!this.begun) this.sink.header({ contentType, sampleRate });
      for await (const chunk of read(blob, this.#sent)) {
        await writer.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        if (writer.gone) throw new DomainError('request_cancelled', 'The listener went away.');
      }
      succeeded = true;
    } finally {
      writer.finish(succeeded);
    }
  }

  #send({ blob, offset, bytes, ...head }: SpeechPiece): void {
    if (this.#behind || this.sink.audio.destroyed) return;
    if (!this.begun) this.#blob = blob;
    if (blob !== this.#blob || offset !== this.#sent) {
      this.#behind = true;
      return;
    }
    if (!this.begun) this.sink.header(head);
    this.#sent += bytes.length;
    this.#behind = !this.sink.audio.write(bytes);
  }
}

/** As with workers that are sent their calls: the listener would hear the sentence start over. */
export const lostMidway = (): DomainError =>
  new DomainError('worker_lost', 'The worker died in the middle of the speech.');

import { type PcmIntake } from '../audio/resampler.js';
import { type StreamEvent } from '../../contracts/grpc/stream.codec.js';
import { type RecognizerStream } from '@switchyard/engine-api/speech-recognizer.js';

/**
 * 0.1 s at 16 kHz: long frames are split, so that partials keep coming and a
 * cancel takes effect.
 */
const PIECE = 1600;

/**
 * One live stream: converts frames to the engine's 16 kHz. Calls are made
 * one after another.
 */
export class RecognitionSession {
  /** Audio came after the last commit. */
  #isOpen = false;

  constructor(
    private readonly stream: LiveStream,
    private readonly intake: PcmIntake,
  ) {}

  audio(frame: Uint8Array): Promise<void> {
    this.#isOpen = true;
    return this.#push(this.intake.take(frame));
  }

  commit(): Promise<void> {
    this.#isOpen = false;
    return this.stream.commit();
  }

  /**
   * The caller has sent everything: finishes the utterance that is open, as
   * a commit does.
   */
  async end(): Promise<void> {
    if (this.#isOpen) {
      await this.#push(this.intake.end());
      await this.commit();
    }
    await this.stream.done();
  }

  close(): Promise<void> {
    return this.stream.close();
  }

  async #push(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += PIECE)
      await this.stream.push(samples.subarray(at, at + PIECE));
  }
}

export type EmitEvent = (event: StreamEvent) => void;

/**
 * A live stream as its call drives it. Events are emitted as they come, not returned: a
 * final may take long.
 */
export interface LiveStream {
  /** Mono s16 at 16 kHz. Resolves when there is room for more. */
  push(samples: Int16Array): Promise<void>;
  /** Ends the utterance; its final is emitted when it is decoded. */
  commit(): Promise<void>;
  /** Resolves when all events of the audio so far have been emitted. */
  done(): Promise<void>;
  close(): Promise<void>;
}

/** Utterances end by commit only. */
export class CommittedStream implements LiveStream {
  constructor(
    private readonly stream: RecognizerStream,
    private readonly emit: EmitEvent,
  ) {}

  async push(samples: Int16Array): Promise<void> {
    for (const event of await this.stream.push(samples)) this.emit(event);
  }

  async commit(): Promise<void> {
    for (const event of await this.stream.commit()) this.emit(event);
  }

  done(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.stream.close();
  }
}

import { type RecognizerEvent, type RecognizerStream } from '../engines/engine.js';
import { type PcmIntake } from '../audio/pcm-intake.js';

/** 0.1 s at 16 kHz: the engine gets long frames in pieces, so that partials keep coming and a cancel is seen. */
const PIECE = 1600;

/** One live stream between frames as they arrive and an engine that wants 16 kHz. Calls are made one after another. */
export class RecognitionSession {
  constructor(
    private readonly stream: RecognizerStream,
    private readonly intake: PcmIntake,
  ) {}

  /** @yields events as soon as the engine has them. */
  audio(frame: Uint8Array): AsyncGenerator<RecognizerEvent> {
    return this.#push(this.intake.take(frame));
  }

  async *commit(): AsyncGenerator<RecognizerEvent> {
    yield* await this.stream.commit();
  }

  /** The caller has sent all: the last utterance is finished, as by a commit. */
  async *end(): AsyncGenerator<RecognizerEvent> {
    yield* this.#push(this.intake.end());
    yield* this.commit();
  }

  close(): Promise<void> {
    return this.stream.close();
  }

  async *#push(samples: Int16Array): AsyncGenerator<RecognizerEvent> {
    for (let at = 0; at < samples.length; at += PIECE) yield* await this.stream.push(samples.subarray(at, at + PIECE));
  }
}

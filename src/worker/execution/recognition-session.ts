import { type PcmIntake } from '../audio/pcm-intake.js';
import { type LiveStream } from './live-stream.js';

/** 0.1 s at 16 kHz: the engine gets long frames in pieces, so that partials keep coming and a cancel is seen. */
const PIECE = 1600;

/** One live stream between frames as they arrive and an engine that wants 16 kHz. Calls are made one after another. */
export class RecognitionSession {
  constructor(
    private readonly stream: LiveStream,
    private readonly intake: PcmIntake,
  ) {}

  audio(frame: Uint8Array): Promise<void> {
    return this.#push(this.intake.take(frame));
  }

  commit(): Promise<void> {
    return this.stream.commit();
  }

  /** The caller has sent all: the last utterance is finished, as by a commit. */
  async end(): Promise<void> {
    await this.#push(this.intake.end());
    await this.commit();
    await this.stream.done();
  }

  close(): Promise<void> {
    return this.stream.close();
  }

  async #push(samples: Int16Array): Promise<void> {
    for (let at = 0; at < samples.length; at += PIECE) await this.stream.push(samples.subarray(at, at + PIECE));
  }
}

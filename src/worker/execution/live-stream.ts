import { type PcmIntake } from '../audio/resampler.js';
import { type RecognizerStream, type StreamEvent } from '../engines/speech-recognizer.js';

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

export type TellEvent = (event: StreamEvent) => void;

/** A live stream as its call drives it. Events are told as they come, not returned: a final may be long in the making. */
export interface LiveStream {
  /** Mono s16 at 16 kHz. Resolves when there is room for more. */
  push(samples: Int16Array): Promise<void>;
  /** Ends the utterance; its final is told when it is decoded. */
  commit(): Promise<void>;
  /** Resolves when everything about the audio so far has been told. */
  done(): Promise<void>;
  close(): Promise<void>;
}

/** Utterances end by commit only. */
export class CommittedStream implements LiveStream {
  constructor(
    private readonly stream: RecognizerStream,
    private readonly tell: TellEvent,
  ) {}

  async push(samples: Int16Array): Promise<void> {
    for (const event of await this.stream.push(samples)) this.tell(event);
  }

  async commit(): Promise<void> {
    for (const event of await this.stream.commit()) this.tell(event);
  }

  done(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.stream.close();
  }
}

import { type RecognizerStream, type StreamEvent } from '../engines/engine.js';

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

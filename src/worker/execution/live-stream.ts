import { type StreamEvent } from '../../contracts/grpc/call.codec.js';
import { type RecognizerStream } from '@switchyard/engine-api/speech-recognizer.js';

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
export const committedStream = (
  stream: RecognizerStream,
  emit: EmitEvent,
): LiveStream => ({
  push: async samples => (await stream.push(samples)).forEach(emit),
  commit: async () => (await stream.commit()).forEach(emit),
  done: () => Promise.resolve(),
  close: () => stream.close(),
});

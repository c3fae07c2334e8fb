import { EngineError } from '../coded-error.js';
import { type RecognizerEvent, type RecognizerStream } from '../speech-recognizer.js';

/** A live stream whose audio another thread decodes. */
export function threadStream(calls: {
  /** @param samples a copy, whose memory may be transferred */
  push(samples: Int16Array<ArrayBuffer>): Promise<readonly RecognizerEvent[]>;
  commit(): Promise<readonly RecognizerEvent[]>;
  /** To be called once. Never rejects. */
  close(): Promise<void>;
}): RecognizerStream {
  let closed: Promise<void> | undefined;
  const requireOpen = (): void => {
    if (closed) throw new EngineError('engine_failed', 'The stream is closed.');
  };
  return {
    push: async samples => {
      requireOpen();
      return calls.push(samples.slice());
    },
    commit: async () => {
      requireOpen();
      return calls.commit();
    },
    close: () => (closed ??= calls.close()),
  };
}

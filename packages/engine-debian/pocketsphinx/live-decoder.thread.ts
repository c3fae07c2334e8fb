import { serveThread } from '@switchyard/engine-api/threads/remote-calls.js';
import { CancelFlag } from '@switchyard/engine-api/threads/shared-memory.js';
import { Decoder } from './decoder.js';
import { LiveSession } from './live-session.js';
import { type LiveDecoderThread } from './protocol.js';

/**
 * Entry of a thread that serves one live stream after another. No decorators here or
 * in anything imported.
 */
void serveThread<LiveDecoderThread>(({ modelDir }) => {
  const decoder = new Decoder(modelDir);
  let session: LiveSession | undefined;
  const current = (): LiveSession => {
    if (session === undefined) throw new Error('no stream is open');
    return session;
  };
  const closeSession = (): void => {
    session = undefined;
    // Its utterance ends once the answer is out: an unwanted second pass must not
    // delay a cancel.
    setImmediate(() => session === undefined && decoder.abandon());
  };
  return {
    info: undefined,
    operations: {
      open: ({ partials, cancel }) => {
        const flag = new CancelFlag(cancel);
        session = new LiveSession({ decoder, partials, isCancelled: () => flag.raised });
      },
      push: samples => current().push(samples),
      commit: () => current().commit(),
      close: closeSession,
    },
    close: () => decoder.free(),
  };
});

import { workerData } from 'node:worker_threads';
import { serveThread } from '../threads/serve-thread.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { Decoder } from './decoder.js';
import { type DecoderThreadData, type LiveDecoderProtocol } from './decoder-protocol.js';
import { LiveSession } from './live-session.js';
import { findModelFiles } from './model-files.js';
import { loadPocketSphinx } from './pocketsphinx-library.js';

/** Entry of a thread that serves one live stream after another. No decorators here or in anything imported. */
serveThread<LiveDecoderProtocol, undefined>(() => {
  const { modelDir } = workerData as DecoderThreadData;
  const library = loadPocketSphinx();
  const model = findModelFiles(modelDir);
  const full = new Decoder(library, model, 'full');
  // A stream without partials needs no live pass, and its 90 MB.
  let live: Decoder | undefined;
  let session: LiveSession | undefined;
  const current = (): LiveSession => {
    if (session === undefined) throw new Error('no stream is open');
    return session;
  };
  const closeSession = (): void => {
    session?.close();
    session = undefined;
  };
  return {
    info: undefined,
    operations: {
      open: ({ partials, cancel }) => {
        closeSession();
        const flag = new CancelFlag(cancel);
        if (partials) live ??= new Decoder(library, model, 'live');
        session = new LiveSession({ full, live: partials ? live : undefined, isCancelled: () => flag.raised });
      },
      push: ({ samples }) => current().push(samples),
      commit: () => current().commit(),
      close: closeSession,
    },
    close: () => {
      closeSession();
      full.free();
      live?.free();
    },
  };
});

import { workerData } from 'node:worker_threads';
import { serveThread } from '../threads/serve-thread.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { framesOf, LogMelExtractor } from './log-mel.js';
import { type LogMelProtocol, type LogMelThreadData } from './protocol.js';

/** Entry of a thread that computes features. No decorators here or in anything imported. */
serveThread<LogMelProtocol, undefined>(() => {
  const { mels } = workerData as LogMelThreadData;
  const extractor = new LogMelExtractor(mels);
  return {
    info: undefined,
    operations: {
      extract: ({ samples, cancel }, notify) => {
        const flag = new CancelFlag(cancel);
        const values = new Float32Array(mels * framesOf(samples.length));
        const done = extractor.extract(samples, values, () => flag.raised);
        if (done) notify(values, [values.buffer]);
        return done;
      },
    },
    close: () => undefined,
  };
});

import { workerData } from 'node:worker_threads';
import { serveThread } from '../threads/serve-thread.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { Decoder } from './decoder.js';
import { type DecoderThreadData, type FileDecoderProtocol } from './decoder-protocol.js';
import { decodeFile } from './file-decoding.js';
import { findModelFiles } from './model-files.js';
import { loadPocketSphinx } from './pocketsphinx-library.js';

/** Entry of a thread that decodes files. No decorators here or in anything imported. */
serveThread<FileDecoderProtocol, undefined>(() => {
  const { modelDir } = workerData as DecoderThreadData;
  const decoder = new Decoder(loadPocketSphinx(), findModelFiles(modelDir));
  // Warm-up: the first utterance pages the language model in.
  decodeFile(decoder, new Int16Array(4800).fill(1), () => false);
  return {
    info: undefined,
    operations: {
      decode: ({ samples, cancel }) => {
        const flag = new CancelFlag(cancel);
        return decodeFile(decoder, samples, () => flag.raised);
      },
    },
    close: () => decoder.free(),
  };
});

import { workerData } from 'node:worker_threads';
import { serveThread } from '../threads/serve-thread.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { decodeAsStream, decodeFile, type DecodeStretch, decodeWhole } from './file-decoding.js';
import { LiveUtterances } from './live-utterances.js';
import { OnlineDecoding } from './online-decoding.js';
import { loadSherpa, type OnlineRecognizer } from './sherpa-library.js';
import { type RecognizerProtocol, type RecognizerThreadData } from './sherpa-protocol.js';

interface Live {
  readonly recognizer: OnlineRecognizer;
  readonly decoding: OnlineDecoding;
}

/** Entry of the thread that holds one recognition model. No decorators here or in anything imported. */
serveThread<RecognizerProtocol, undefined>(async () => {
  const { streaming, config } = workerData as RecognizerThreadData;
  const sherpa = loadSherpa();
  const recognizer = streaming ? new sherpa.OnlineRecognizer(config) : undefined;
  const live: Live | undefined = recognizer && { recognizer, decoding: new OnlineDecoding(recognizer) };
  const decode: DecodeStretch = live
    ? decodeAsStream(live.recognizer, live.decoding)
    : decodeWhole(await sherpa.OfflineRecognizer.createAsync(config));
  const streams = new Map<number, LiveUtterances>();
  const opened = (id: number): LiveUtterances => {
    const stream = streams.get(id);
    if (stream === undefined) throw new Error('The stream is closed.');
    return stream;
  };
  return {
    info: undefined,
    operations: {
      decode: ({ samples, cancel }, onHeard) => {
        const flag = new CancelFlag(cancel);
        return decodeFile(decode, { samples, isCancelled: () => flag.raised, onHeard });
      },
      open: ({ id, partials }) => {
        if (live === undefined) throw new Error('The model hears whole files only.');
        streams.set(id, new LiveUtterances(live.recognizer, live.decoding, partials));
      },
      push: ({ id, samples }) => opened(id).push(samples),
      commit: ({ id }) => opened(id).commit(),
      close: ({ id }) => void streams.delete(id),
      counters: () => live?.decoding.counters ?? { runs: 0, rows: 0, largest: 0 },
    },
    // Native memory goes with the thread: the package frees it when its handles are collected.
    close: () => streams.clear(),
  };
});

import { workerData } from 'node:worker_threads';
import { splitIntoUtterances } from '@switchyard/engine-api/audio/utterance-split.js';
import { serveThread } from '@switchyard/engine-api/threads/serve-thread.js';
import { CancelFlag } from '@switchyard/engine-api/threads/shared-memory.js';
import { LiveUtterances, OnlineDecoding, TAIL } from './online-decoding.js';
import {
  loadSherpa,
  type OfflineRecognizer,
  type RecognizerResult,
  toFloats,
} from './library.js';
import {
  type HeardUtterance,
  type RecognizerProtocol,
  type RecognizerThreadData,
} from './protocol.js';

const RATE = 16_000;
/** Some models end the process on audio shorter than their first window. */
const LEAST = RATE / 2;

/** Recognises one stretch of at most 15 s. */
type DecodeStretch = (samples: Float32Array) => Promise<RecognizerResult>;

function decodeWhole(recognizer: OfflineRecognizer): DecodeStretch {
  return samples => {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ sampleRate: RATE, samples });
    return recognizer.decodeAsync(stream);
  };
}

function decodeAsStream(decoding: OnlineDecoding): DecodeStretch {
  return async samples => {
    const stream = decoding.recognizer.createStream();
    stream.acceptWaveform({ sampleRate: RATE, samples });
    stream.acceptWaveform({ sampleRate: RATE, samples: TAIL });
    stream.inputFinished();
    return decoding.drained(stream);
  };
}

/**
 * A file in stretches of 8-15 s, cut at pauses: Whisper-class models hear no more than 30
 * s at once, others need memory that grows with the square, and a running decode cannot
 * be stopped: a cancel is heard between stretches.
 */
async function decodeFile(
  decode: DecodeStretch,
  samples: Int16Array,
  isCancelled: () => boolean,
  onHeard: (utterance: HeardUtterance) => void,
): Promise<true | undefined> {
  for (const { from, to } of splitIntoUtterances(samples)) {
    if (isCancelled()) return undefined;
    const result = await decode(toFloats(samples, from, to, LEAST));
    onHeard({ start: from / RATE, end: to / RATE, result });
  }
  return isCancelled() ? undefined : true;
}

/**
 * Entry of the thread that holds one recognition model. No decorators here or
 * in anything imported.
 */
void serveThread<RecognizerProtocol>(async () => {
  const { streaming, config } = workerData as RecognizerThreadData;
  const sherpa = loadSherpa();
  const recognizer = streaming ? new sherpa.OnlineRecognizer(config) : undefined;
  const decoding = recognizer && new OnlineDecoding(recognizer);
  const decode: DecodeStretch = decoding
    ? decodeAsStream(decoding)
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
        return decodeFile(decode, samples, () => flag.raised, onHeard);
      },
      open: ({ id, partials }) => {
        if (decoding === undefined) throw new Error('The model hears whole files only.');
        streams.set(id, new LiveUtterances(decoding, partials));
      },
      push: ({ id, samples }) => opened(id).push(samples),
      commit: ({ id }) => opened(id).commit(),
      close: ({ id }) => void streams.delete(id),
      counters: () => decoding?.counters ?? { runs: 0, rows: 0, largest: 0 },
    },
    // Native memory goes with the thread: the package frees it when its
    // handles are collected.
    close: () => streams.clear(),
  };
});

import { splitIntoUtterances } from '../pocketsphinx/utterance-split.js';
import { type OnlineDecoding } from './online-decoding.js';
import { TAIL } from './live-utterances.js';
import { type OfflineRecognizer, type OnlineRecognizer, type RecognizerResult, toFloats } from './sherpa-library.js';
import { type HeardUtterance } from './sherpa-protocol.js';

const RATE = 16_000;
/** Some models end the process on audio shorter than their first window. */
const LEAST = RATE / 2;

/** Recognises one stretch of at most 15 s. */
export type DecodeStretch = (samples: Float32Array) => Promise<RecognizerResult>;

export function decodeWhole(recognizer: OfflineRecognizer): DecodeStretch {
  return samples => {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ sampleRate: RATE, samples });
    return recognizer.decodeAsync(stream);
  };
}

export function decodeAsStream(recognizer: OnlineRecognizer, decoding: OnlineDecoding): DecodeStretch {
  return async samples => {
    const stream = recognizer.createStream();
    stream.acceptWaveform({ sampleRate: RATE, samples });
    stream.acceptWaveform({ sampleRate: RATE, samples: TAIL });
    stream.inputFinished();
    await decoding.drain(stream);
    return recognizer.getResult(stream);
  };
}

interface FileWork {
  readonly samples: Int16Array;
  readonly isCancelled: () => boolean;
  readonly onHeard: (utterance: HeardUtterance) => void;
}

/**
 * A file in stretches of 8-15 s, cut at pauses: Whisper-class models hear no more than 30 s at once, others need memory that
 * grows with the square, and a running decode cannot be stopped: a cancel is heard between stretches.
 */
export async function decodeFile(
  decode: DecodeStretch,
  { samples, isCancelled, onHeard }: FileWork,
): Promise<true | undefined> {
  for (const { from, to } of splitIntoUtterances(samples)) {
    if (isCancelled()) return undefined;
    const result = await decode(toFloats(samples, from, to, LEAST));
    onHeard({ start: from / RATE, end: to / RATE, result });
  }
  return isCancelled() ? undefined : true;
}

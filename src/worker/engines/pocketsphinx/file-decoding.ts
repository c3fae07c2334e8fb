import { type Decoder } from './decoder.js';
import { type DecodedWord, spokenWords } from './decoded-word.js';
import { splitIntoUtterances } from './utterance-split.js';

const RATE = 16_000;
/** Half a second of audio, about 80 ms of work: the longest a cancel waits while the search runs. */
const CHUNK_SAMPLES = RATE / 2;

/**
 * Decodes one file from a clean state: the same samples give the same words whatever was decoded before.
 * Answers undefined when cancelled; checked before every chunk.
 */
export function decodeFile(
  decoder: Decoder,
  samples: Int16Array,
  isCancelled: () => boolean,
): DecodedWord[] | undefined {
  const durationS = samples.length / RATE;
  const mean = decoder.cepstralMean(samples, isCancelled);
  const words: DecodedWord[] = [];
  for (const { from, to } of splitIntoUtterances(samples)) {
    decoder.begin(mean);
    for (let at = from; at < to && !isCancelled(); at += CHUNK_SAMPLES) {
      decoder.feed(samples.subarray(at, Math.min(to, at + CHUNK_SAMPLES)));
    }
    if (isCancelled()) {
      decoder.abandon();
      return undefined;
    }
    words.push(...spokenWords(decoder.finish(), from / RATE, durationS));
  }
  return words;
}

import { setPriority } from 'node:os';
import { splitIntoUtterances } from '@switchyard/engine-api/audio/utterance-split.js';
import { type TranscriptWord } from '@switchyard/engine-api/speech-recognizer.js';
import { serveThread } from '@switchyard/engine-api/threads/remote-calls.js';
import { CancelFlag } from '@switchyard/engine-api/threads/shared-memory.js';
import { Decoder } from './decoder.js';
import { type FileDecoderThread, spokenWords } from './protocol.js';

const RATE = 16_000;
/**
 * Half a second of audio, about 80 ms of work: the longest a cancel waits while
 * the search runs.
 */
const CHUNK_SAMPLES = RATE / 2;
/**
 * A decoder of files has what live streams leave of a core: about a tenth of the weight of
 * other threads.
 */
const NICE = 10;

/**
 * Decodes one file from a clean state: the same samples give the same words whatever was
 * decoded before. Answers undefined when cancelled; checked before every chunk.
 */
function decodeFile(
  decoder: Decoder,
  samples: Int16Array,
  isCancelled: () => boolean,
): TranscriptWord[] | undefined {
  const durationS = samples.length / RATE;
  const mean = decoder.cepstralMean(samples, isCancelled);
  const words: TranscriptWord[] = [];
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

/** Entry of a thread that decodes files. No decorators here or in anything imported. */
void serveThread<FileDecoderThread>(({ modelDir, besideStreams }) => {
  // Linux has a priority for each thread, and sets that of the one that asks; elsewhere it
  // would be that of the whole process.
  if (besideStreams && process.platform === 'linux') setPriority(NICE);
  const decoder = new Decoder(modelDir);
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

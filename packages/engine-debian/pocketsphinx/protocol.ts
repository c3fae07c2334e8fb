import {
  laterBy,
  type RecognizerEvent,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';

const FILLER = /^(<.*>|\[.*\]|\+\+.*\+\+)$/;
const PRONUNCIATION_VARIANT = /\(\d+\)$/;

function isFiller(word: string): boolean {
  return FILLER.test(word);
}

/** "read(2)" is the second pronunciation of "read". */
function plainWord(word: string): string {
  return word.replace(PRONUNCIATION_VARIANT, '');
}

/** A raw hypothesis as people write it: no fillers, no variant marks. */
export function plainText(hypothesis: string): string {
  return hypothesis
    .split(/\s+/)
    .filter(word => word !== '' && !isFiller(word))
    .map(plainWord)
    .join(' ');
}

/** The spoken words only, shifted by `offsetS` and kept inside `[0, durationS]`. */
export function spokenWords(
  decoded: readonly TranscriptWord[],
  offsetS: number,
  durationS: number,
): TranscriptWord[] {
  const clamp = (seconds: number): number =>
    Math.min(durationS, Math.max(0, laterBy(seconds, offsetS)));
  return decoded
    .filter(({ word }) => !isFiller(word))
    .map(({ word, start, end, confidence }) => ({
      word: plainWord(word),
      start: clamp(start),
      end: clamp(end),
      confidence: Math.round(confidence * 1000) / 1000,
    }));
}

/** One file at a time; undefined: cancelled. */
export interface FileDecoderThread {
  readonly data: {
    readonly modelDir: string;
    /** Live streams are decoded on the same machine, and go first. */
    readonly besideStreams: boolean;
  };
  readonly info: undefined;
  readonly calls: {
    decode(request: {
      /** Mono 16 kHz, in shared memory. */
      readonly samples: Int16Array;
      /** Memory of a CancelFlag. */
      readonly cancel: SharedArrayBuffer;
    }): readonly TranscriptWord[] | undefined;
  };
}

/** One live stream at a time. */
export interface LiveDecoderThread {
  readonly data: { readonly modelDir: string };
  readonly info: undefined;
  readonly calls: {
    open(request: { readonly partials: boolean; readonly cancel: SharedArrayBuffer }): void;
    push(samples: Int16Array): readonly RecognizerEvent[];
    commit(request: undefined): readonly RecognizerEvent[];
    close(request: undefined): void;
  };
}

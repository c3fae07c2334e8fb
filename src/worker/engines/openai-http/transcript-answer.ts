import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import {
  type RecognizedTranscript,
  type RecognizedSegment,
  type TokenLogprob,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';
import { languageTag } from '../../../contracts/formats/language-name.js';

/**
 * `verbose_json` or `json` of a transcription as a transcript; undefined when it is
 * neither. `json` has no times: its text becomes one segment over the whole audio.
 */
export function transcriptIn(
  answer: unknown,
  context: {
    /** The language that was asked for, or empty. */
    readonly language: string;
    /** Seconds; 0: not known here. */
    readonly durationS: number;
    readonly wordTimestamps: boolean;
  },
): RecognizedTranscript | undefined {
  if (!isObject(answer) || typeof answer.text !== 'string') return undefined;
  const text = answer.text.trim();
  const segments = listOf(answer.segments);
  const durationS = context.durationS || durationIn(answer) || numberOf(segments.at(-1)?.end);
  return {
    text,
    language: languageIn(answer) || context.language,
    durationS,
    segments: segments.length > 0 ? segments.map(segmentOf) : wholeText(text, durationS),
    words: context.wordTimestamps ? wordsIn(answer, segments) : [],
    logprobs: Array.isArray(answer.logprobs) ? listOf(answer.logprobs).map(tokenOf) : undefined,
  };
}

/** Whisper's `english` is `en`; a tag, and an unknown name, stay as they came. */
const languageIn = ({ language }: Fields): string =>
  typeof language === 'string' ? (languageTag(language) ?? language) : '';

/** `duration` of verbose_json, or what json says was charged. */
function durationIn({ duration, usage }: Fields): number {
  return numberOf(duration) || (isObject(usage) ? numberOf(usage.seconds) : 0);
}

const wholeText = (text: string, end: number): RecognizedSegment[] =>
  text === '' ? [] : [{ start: 0, end, text, avgLogprob: 0, noSpeechProb: 0 }];

/** Whisper's segments begin with a space. */
const segmentOf = (segment: Fields): RecognizedSegment => ({
  start: numberOf(segment.start),
  end: numberOf(segment.end),
  text: trimmed(segment.text),
  avgLogprob: numberOf(segment.avg_logprob),
  noSpeechProb: numberOf(segment.no_speech_prob),
  ...(typeof segment.compression_ratio === 'number' && {
    compressionRatio: segment.compression_ratio,
  }),
  ...(typeof segment.speaker === 'string' && { speaker: segment.speaker }),
});

/** OpenAI lists words beside the segments, whisper.cpp inside of them. */
function wordsIn({ words }: Fields, segments: readonly Fields[]): TranscriptWord[] {
  const listed = listOf(words);
  return (listed.length > 0 ? listed : segments.flatMap(segment => listOf(segment.words))).map(
    wordOf,
  );
}

const wordOf = (word: Fields): TranscriptWord => ({
  word: trimmed(word.word),
  start: numberOf(word.start),
  end: numberOf(word.end),
  confidence: Math.min(1, Math.max(0, numberOf(word.probability))),
});

/** Servers that send no bytes mean those of the token's text. */
function tokenOf({ token, logprob, bytes }: Fields): TokenLogprob {
  const text = typeof token === 'string' ? token : '';
  const own = Array.isArray(bytes) ? Buffer.from(bytes.map(numberOf)) : Buffer.from(text);
  return { token: text, logprob: Math.min(0, numberOf(logprob)), bytes: own };
}

const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const trimmed = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** Some servers send seconds as text: OpenAI's own `duration` was one for years. */
function numberOf(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : 0;
}

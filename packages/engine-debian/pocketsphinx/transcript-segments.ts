import {
  type RecognizedTranscript,
  type RecognizedSegment,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';

/** A pause this long ends a segment; commas are usually shorter, sentence ends longer. */
const PAUSE_S = 0.3;
/** Subtitles longer than this cannot be read along. */
const LONGEST_SEGMENT_S = 12;
/** ln of the smallest posterior that is kept apart from zero. */
const LOWEST_LOG_PROBABILITY = Math.log(1e-4);

/**
 * Cuts the words at pauses. PocketSphinx writes no punctuation, so a pause is the only
 * sign of a sentence.
 */
function segmentsByPauses(words: readonly TranscriptWord[]): RecognizedSegment[] {
  const groups: TranscriptWord[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    if (group === undefined || endsBefore(word, group)) groups.push([word]);
    else group.push(word);
  }
  return groups.map(toSegment);
}

function endsBefore(word: TranscriptWord, group: readonly TranscriptWord[]): boolean {
  const segmentStart = group[0]?.start ?? word.start;
  const lastEnd = group.at(-1)?.end ?? word.start;
  // Times are rounded to milliseconds: compare in them.
  const pauseMs = Math.round((word.start - lastEnd) * 1000);
  return pauseMs >= PAUSE_S * 1000 || word.end - segmentStart > LONGEST_SEGMENT_S;
}

export function toTranscript(
  words: readonly TranscriptWord[],
  wordTimestamps: boolean,
): RecognizedTranscript {
  return {
    text: joinWords(words),
    language: 'en',
    segments: segmentsByPauses(words),
    words: wordTimestamps ? words : [],
  };
}

function toSegment(words: readonly TranscriptWord[]): RecognizedSegment {
  const start = words[0]?.start ?? 0;
  const end = words.at(-1)?.end ?? start;
  return {
    start,
    end,
    text: joinWords(words),
    avgLogprob: meanLog(words),
    noSpeechProb: unspoken(words, end - start),
  };
}

const joinWords = (words: readonly TranscriptWord[]): string =>
  words.map(({ word }) => word).join(' ');

function meanLog(words: readonly TranscriptWord[]): number {
  const logs = words.map(({ confidence }) =>
    Math.max(LOWEST_LOG_PROBABILITY, Math.log(confidence)),
  );
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  return Math.round(mean * 1000) / 1000 + 0;
}

/**
 * Share of the segment that the decoder gave to silence and noise: the nearest thing it
 * has to "no speech".
 */
function unspoken(words: readonly TranscriptWord[], durationS: number): number {
  if (durationS <= 0) return 0;
  const spoken = words.reduce((sum, { start, end }) => sum + end - start, 0);
  return Math.round(Math.min(1, Math.max(0, 1 - spoken / durationS)) * 1000) / 1000;
}

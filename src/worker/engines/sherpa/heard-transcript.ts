import { type Transcript, type TranscriptSegment, type TranscriptWord } from '../engine.js';
import { type HeardUtterance } from './sherpa-protocol.js';
import { wordsOf } from './token-words.js';

/** One stretch as a segment; undefined: nothing was said in it. */
export interface HeardSegment {
  readonly segment: TranscriptSegment;
  readonly words: readonly TranscriptWord[];
  readonly language: string;
}

export function segmentOf({ start, end, result }: HeardUtterance, audioEndS: number): HeardSegment | undefined {
  const text = result.text.trim();
  if (text === '') return undefined;
  const words = wordsOf(result, start, Math.min(end, audioEndS));
  const logprobs = result.ys_log_probs ?? [];
  const segment: TranscriptSegment = {
    text,
    start: words[0]?.start ?? start,
    end: words.at(-1)?.end ?? end,
    avgLogprob: logprobs.length === 0 ? 0 : logprobs.reduce((sum, value) => sum + value, 0) / logprobs.length,
    noSpeechProb: 0,
  };
  // Whisper says "en", SenseVoice "<|en|>".
  return { segment, words, language: (result.lang ?? '').replace(/^<\||\|>$/g, '') };
}

export function transcriptOf(heard: readonly HeardSegment[], language: string, wordTimestamps: boolean): Transcript {
  return {
    text: heard.map(({ segment }) => segment.text).join(' '),
    language: heard.find(segment => segment.language !== '')?.language ?? language,
    segments: heard.map(({ segment }) => segment),
    words: wordTimestamps ? heard.flatMap(({ words }) => words) : [],
  };
}

import { createHash } from 'node:crypto';
import { type Transcript, type TranscriptWord } from '../engine.js';

/** Enough to tell inputs apart, little enough to cost nothing at 25 MB. */
const HASHED_BYTES = 65_536;

export interface TranscriptSource {
  readonly bytes: Uint8Array;
  readonly durationS: number;
  /** Everything else that a real model's answer would depend on. */
  readonly conditions: readonly string[];
  readonly wordTimestamps: boolean;
}

/** Says what it is, and depends on all it was given: "synthetic transcript 1f3a9c02 5 bytes". Empty audio: no text. */
export function syntheticText(bytes: Uint8Array, conditions: readonly string[] = []): string {
  if (bytes.length === 0) return '';
  const hash = createHash('sha256').update(bytes.subarray(0, HASHED_BYTES)).update(JSON.stringify(conditions));
  return `synthetic transcript ${hash.digest('hex').slice(0, 8)} ${bytes.length} bytes`;
}

export function syntheticTranscript(source: TranscriptSource): Transcript {
  const text = syntheticText(source.bytes, source.conditions);
  const segment = { start: 0, end: source.durationS, text, avgLogprob: -0.1, noSpeechProb: 0 };
  return {
    text,
    language: 'en',
    segments: text === '' ? [] : [segment],
    words: source.wordTimestamps ? evenlySpread(text, 0, source.durationS) : [],
  };
}

/** The words of the text, each with an equal part of the time. Seconds. */
export function evenlySpread(text: string, start: number, end: number): TranscriptWord[] {
  const words = text === '' ? [] : text.split(' ');
  const each = (end - start) / Math.max(1, words.length);
  return words.map((word, i) => ({ word, start: start + i * each, end: start + (i + 1) * each, confidence: 0.9 }));
}

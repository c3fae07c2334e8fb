import { type Transcript, type TranscriptSegment } from './transcript.js';
import { type DurationUsage, durationUsage } from './usage.js';

/** A segment of `diarized_json`; the same object is the event `transcript.text.segment` of its stream. */
export interface DiarizedSegment {
  readonly type: 'transcript.text.segment';
  /** `seg_001`, counted from 1. */
  readonly id: string;
  /** Seconds from the start of the audio. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** A known speaker's name, or "A", "B", ... in order of appearance. */
  readonly speaker: string;
}

/** Field order is OpenAI's. */
export interface DiarizedTranscription {
  readonly task: 'transcribe';
  readonly duration: number;
  readonly text: string;
  readonly segments: readonly DiarizedSegment[];
  readonly usage: DurationUsage;
}

export function formatDiarizedJson({ text, durationS, segments }: Transcript): DiarizedTranscription {
  return {
    task: 'transcribe',
    duration: durationS,
    text,
    segments: segments.map(diarizedSegment),
    usage: durationUsage(durationS),
  };
}

export function diarizedSegment({ id, start, end, text, speaker }: TranscriptSegment): DiarizedSegment {
  const name = `seg_${String(id + 1).padStart(3, '0')}`;
  return { type: 'transcript.text.segment', id: name, start, end, text: text.trim(), speaker: speaker ?? '' };
}

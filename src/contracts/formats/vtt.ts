import { cueText, timestamp } from './timestamp.js';
import { type Transcript } from './transcript.js';

/** WebVTT: the header line, then each cue followed by an empty line. Only the header for silence. */
export function formatVtt(transcript: Pick<Transcript, 'segments'>): string {
  const cues = transcript.segments.map(
    ({ start, end, text }) => `${timestamp(start, '.')} --> ${timestamp(end, '.')}\n${cueText(text)}\n\n`,
  );
  return `WEBVTT\n\n${cues.join('')}`;
}

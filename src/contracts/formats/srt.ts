import { cueText, timestamp } from './timestamp.js';
import { type Transcript } from './transcript.js';

/** SubRip: numbered from 1, each cue followed by an empty line. Empty for silence. */
export function formatSrt(transcript: Pick<Transcript, 'segments'>): string {
  return transcript.segments
    .map(({ start, end, text }, index) => {
      const times = `${timestamp(start, ',')} --> ${timestamp(end, ',')}`;
      return `${index + 1}\n${times}\n${cueText(text)}\n\n`;
    })
    .join('');
}

import type { Transcript } from '@switchyard/engine-api/speech-recognizer.js';

/**
 * `01:02:03.456`, hours always written, as OpenAI's subtitles do.
 * @param separator between seconds and milliseconds: `,` in SRT, `.` in WebVTT.
 */
export function timestamp(seconds: number, separator: ',' | '.'): string {
  // Rounded once as a whole number: 1.9996 s must become 00:00:02.000, not 00:00:01.1000.
  const totalMs = Math.max(0, Math.round(seconds * 1000));
  const hours = String(Math.floor(totalMs / 3_600_000)).padStart(2, '0');
  const behindHours = new Date(totalMs).toISOString().slice(13, 23);
  return hours + behindHours.replace('.', separator);
}

/** A cue's text must not contain the arrow that separates its times. */
function cueText(text: string) {
  return text.trim().replaceAll('-->', '->');
}

/** SubRip: numbered from 1, each cue followed by an empty line. Empty for silence. */
export function formatSrt(transcript: Pick<Transcript, 'segments'>): string {
  return transcript.segments
    .map(({ start, end, text }, index) => {
      const times = `${timestamp(start, ',')} --> ${timestamp(end, ',')}`;
      return `${index + 1}\n${times}\n${cueText(text)}\n\n`;
    })
    .join('');
}

/**
 * WebVTT: the header line, then each cue followed by an empty line. Only the
 * header for silence.
 */
export function formatVtt(transcript: Pick<Transcript, 'segments'>): string {
  const cues = transcript.segments.map(
    ({ start, end, text }) =>
      `${timestamp(start, '.')} --> ${timestamp(end, '.')}\n${cueText(text)}\n\n`,
  );
  return `WEBVTT\n\n${cues.join('')}`;
}

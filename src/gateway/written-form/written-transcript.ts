import { type Transcript } from '../../contracts/formats/transcript.js';

/**
 * Rewrites text and segments as one: the text stays the sum of its segments, so json, subtitles and event streams say
 * the same. Words keep the spoken form, because their times belong to what was spoken.
 */
export function writtenTranscript<T extends Transcript>(transcript: T, write: (spoken: string) => string): T {
  const segments = transcript.segments.map(segment => ({ ...segment, text: write(segment.text) }));
  const gaps = gapsBetween(transcript);
  const text = gaps?.map((gap, index) => gap + (segments[index]?.text.trim() ?? '')).join('');
  return { ...transcript, segments, text: text ?? write(transcript.text) };
}

/** White space before each segment and after the last; undefined when the text holds more than its segments. */
function gapsBetween({ text, segments }: Transcript): readonly string[] | undefined {
  const gaps: string[] = [];
  let from = 0;
  for (const { text: segment } of segments) {
    const wanted = segment.trim();
    const at = text.indexOf(wanted, from);
    if (at < 0) return undefined;
    gaps.push(text.slice(from, at));
    from = at + wanted.length;
  }
  gaps.push(text.slice(from));
  return gaps.every(gap => gap.trim() === '') ? gaps : undefined;
}

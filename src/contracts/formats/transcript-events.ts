import { SSE_DONE, sseData } from './server-sent-event.js';
import { type Transcript } from './transcript.js';
import { type DurationUsage, durationUsage } from './usage.js';

export type TranscriptEvent =
  | { readonly type: 'transcript.text.delta'; readonly delta: string }
  | { readonly type: 'transcript.text.done'; readonly text: string; readonly usage: DurationUsage };

/**
 * The answer as OpenAI streams it: deltas whose concatenation is exactly `text`, then one done.
 *
 * One delta per segment; a transcript whose text is not the sum of its segments is one delta.
 */
export function transcriptEvents(transcript: Transcript): readonly TranscriptEvent[] {
  const { text, durationS } = transcript;
  const deltas = splitBySegments(text, transcript.segments).map(delta => ({
    type: 'transcript.text.delta' as const,
    delta,
  }));
  return [...deltas, { type: 'transcript.text.done', text, usage: durationUsage(durationS) }];
}

/** The whole SSE body, `[DONE]` included. */
export function formatTranscriptStream(transcript: Transcript): string {
  return transcriptEvents(transcript).map(sseData).join('') + SSE_DONE;
}

function splitBySegments(text: string, segments: Transcript['segments']): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const segment of segments.slice(0, -1)) {
    const wanted = segment.text.trim();
    const at = text.indexOf(wanted, from);
    if (at < 0) return [text].filter(piece => piece !== '');
    pieces.push(text.slice(from, at + wanted.length));
    from = at + wanted.length;
  }
  return [...pieces, text.slice(from)].filter(piece => piece !== '');
}

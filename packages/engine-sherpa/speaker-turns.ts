import { type TranscriptWord } from '@switchyard/engine-api/speech-recognizer.js';
import { type NamedTurn } from './protocol.js';
import { type HeardSegment } from './transcript.js';

/**
 * Cuts a segment where the speaker changes between two words. Without word times it is
 * whole, and its longest speaker's.
 */
export function bySpeaker(heard: HeardSegment, turns: readonly NamedTurn[]): HeardSegment[] {
  const { segment, words, language } = heard;
  if (turns.length === 0) return [heard];
  if (words.length === 0)
    return [{ ...heard, segment: { ...segment, speaker: speakerOf(segment, turns) } }];
  const parts: { speaker: string; words: TranscriptWord[] }[] = [];
  for (const word of words) {
    const speaker = speakerOf(word, turns);
    const part = parts.at(-1);
    if (part?.speaker === speaker) part.words.push(word);
    else parts.push({ speaker, words: [word] });
  }
  return parts.map(({ speaker, words }) => ({
    segment: {
      ...segment,
      speaker,
      text: words.map(({ word }) => word).join(' '),
      start: words[0]!.start,
      end: words.at(-1)!.end,
    },
    words,
    language,
  }));
}

/** The speaker of most of the segment; in a silence, the nearest one. */
export function speakerOf(
  span: { readonly start: number; readonly end: number },
  turns: readonly NamedTurn[],
): string {
  let best = { speaker: '', overlap: -Infinity };
  for (const { start, end, speaker } of turns) {
    // Negative: the distance to the turn.
    const overlap = Math.min(end, span.end) - Math.max(start, span.start);
    if (overlap > best.overlap) best = { speaker, overlap };
  }
  return best.speaker;
}

/**
 * Names of speakers 0, 1, ... A known voice is given to the speaker nearest to it, and to
 * one only; an unknown speaker is "A", "B", ... in order of appearance, past names that a
 * known voice has.
 */
export function nameSpeakers(
  speakers: readonly Float32Array[],
  known: readonly { readonly name: string; readonly embedding: Float32Array }[],
  least: number,
): string[] {
  const names: (string | undefined)[] = speakers.map(() => undefined);
  const pairs = known
    .flatMap(({ name, embedding }) =>
      speakers.map((voice, i) => ({ name, i, likeness: cosine(voice, embedding) })),
    )
    .filter(({ likeness }) => likeness >= least)
    .sort((a, b) => b.likeness - a.likeness);
  for (const { name, i } of pairs) {
    if (names[i] === undefined && !names.includes(name)) names[i] = name;
  }
  const taken = new Set(names);
  let letter = 0;
  const nextLetter = (): string => {
    for (;;) {
      const name = letterName(letter++);
      if (!taken.has(name)) return name;
    }
  };
  return names.map(name => name ?? nextLetter());
}

/** A ... Z, AA, AB, ... */
function letterName(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letterName(Math.floor(index / 26) - 1) + last;
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa * bb === 0 ? 0 : product / Math.sqrt(aa * bb);
}

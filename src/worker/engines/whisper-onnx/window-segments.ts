/** A piece of a window between two times. */
export interface WindowSegment {
  /** Encoder positions (0.02 s) from the start of the window. */
  readonly from: number;
  readonly to: number;
  /** Index range in the window's tokens. */
  readonly first: number;
  readonly end: number;
}

export interface WindowCut {
  readonly segments: readonly WindowSegment[];
  /** Encoder positions to move on by: to the last complete segment's end, or over the whole window. */
  readonly advance: number;
}

/**
 * Cuts a window's tokens at pairs of times, as OpenAI's reference does (whisper/transcribe.py). An unfinished last piece is
 * left to the next window, unless it is the only one.
 */
export function cutWindow(tokens: readonly number[], firstTime: number, positions: number): WindowCut {
  const isTime = (index: number): boolean => (tokens[index] ?? -1) >= firstTime;
  const place = (index: number): number => tokens[index]! - firstTime;
  const cuts = tokens.flatMap((_, i) => (i > 0 && isTime(i - 1) && isTime(i) ? [i] : []));
  const singleTimeEnds = tokens.length > 0 && isTime(tokens.length - 1) && !isTime(tokens.length - 2);
  if (cuts.length === 0) return { segments: [wholeWindow(tokens, firstTime, positions)], advance: positions };
  if (singleTimeEnds) cuts.push(tokens.length);
  const segments = cuts.map((end, i) => {
    const first = cuts[i - 1] ?? 0;
    return { first, end, from: isTime(first) ? place(first) : 0, to: place(end - 1) };
  });
  const advance = singleTimeEnds ? positions : segments.at(-1)!.to;
  // A time of 0 would stand still for ever.
  return { segments, advance: advance > 0 ? Math.min(advance, positions) : positions };
}

function wholeWindow(tokens: readonly number[], firstTime: number, positions: number): WindowSegment {
  const last = tokens.findLast(token => token >= firstTime);
  const to = last !== undefined && last !== firstTime ? last - firstTime : positions;
  return { first: 0, end: tokens.length, from: 0, to };
}

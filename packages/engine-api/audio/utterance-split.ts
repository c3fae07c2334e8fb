const RATE = 16_000;
/** A quiet stretch this long is a pause between words, not a consonant's closure. */
const QUIET_WINDOW = Math.round(0.3 * RATE);
const STEP = RATE / 100;

/** Lengths of utterances in seconds; the last one may be shorter. */
export interface UtteranceLengths {
  readonly shortestS: number;
  readonly longestS: number;
}

/**
 * Cuts long audio into utterances (default 8-15 s) at the quietest 0.3 s available, so that
 * memory stays flat, a cancel is quick and the search stays near what was said. Ranges
 * are half-open, adjacent and cover everything.
 */
export function splitIntoUtterances(
  samples: Int16Array,
  { shortestS, longestS }: UtteranceLengths = { shortestS: 8, longestS: 15 },
) {
  const [shortest, longest] = [shortestS * RATE, longestS * RATE];
  const ranges: { readonly from: number; readonly to: number }[] = [];
  let from = 0;
  while (samples.length - from > longest) {
    const to = quietestPoint(samples, from + shortest, from + longest);
    ranges.push({ from, to });
    from = to;
  }
  if (samples.length > from) ranges.push({ from, to: samples.length });
  return ranges;
}

/** Middle of the quietest 0.3 s between two samples. */
export function quietestPoint(samples: Int16Array, first: number, last: number): number {
  const steps = stepEnergies(samples, first, last);
  const width = Math.round(QUIET_WINDOW / STEP);
  let windowed = 0;
  let best = Infinity;
  let at = last;
  for (let i = 0; i < steps.length; i++) {
    windowed += (steps[i] ?? 0) - (steps[i - width] ?? 0);
    // Later wins a tie: the longer the utterance, the more context the search has.
    if (i >= width - 1 && windowed <= best) {
      best = windowed;
      at = first + (i + 1) * STEP - QUIET_WINDOW / 2;
    }
  }
  return at;
}

/**
 * Every other sample is enough to compare loudness. Integers, so the sliding
 * sum cannot drift.
 */
function stepEnergies(samples: Int16Array, first: number, last: number): number[] {
  const energies: number[] = [];
  for (let from = first; from + STEP <= last; from += STEP) {
    let energy = 0;
    for (let i = from; i < from + STEP; i += 2) energy += (samples[i] ?? 0) ** 2;
    energies.push(energy);
  }
  return energies;
}

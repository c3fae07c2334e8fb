/** Hints of one moment are spread over this, or over as long again as the hint itself if that is longer. */
const MIN_SPREAD_MS = 4_000;

/**
 * When a refused caller should come back: `hintMs` at the earliest, so that those refused at one moment do not come back at one moment.
 * @param random from 0 to less than 1
 */
export const spreadHint = (hintMs: number, random: () => number): number =>
  hintMs + Math.floor(random() * Math.max(hintMs, MIN_SPREAD_MS));

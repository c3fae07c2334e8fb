/** Of the devices; the rest is for utterances that end together. */
const USABLE = 0.8;
/** Ended utterances without text: the one before is not recognised when the next one ends. */
const BEHIND = 2;

interface LiveSession {
  /** Share of its time for which it speaks. */
  readonly speaking: number;
  /** Utterances that have ended and have no text yet. */
  readonly waiting: number;
}

/**
 * Whether one more live session would be recognised as fast as it is spoken, without making
 * the others wait; not while one of them is behind. A lone one always is taken.
 * @param sessions that are there; the new one is taken to speak all of its time
 * @param msPerS device milliseconds that a second of speech takes
 * @param devices engine calls at the same time
 */
export function keepsPace(
  sessions: readonly LiveSession[],
  msPerS: number,
  devices: number,
): boolean {
  if (sessions.length === 0) return true;
  const speech = sessions.reduce((sum, { speaking }) => sum + speaking, 1);
  const isBehind = sessions.some(({ waiting }) => waiting >= BEHIND);
  return !isBehind && speech * msPerS <= USABLE * 1000 * devices;
}

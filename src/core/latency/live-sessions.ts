/** Of the devices; the rest is for utterances that end together. */
const USABLE = 0.8;

/**
 * Whether one more live session would be recognised as fast as it is spoken, without making
 * the others wait. A lone one always is taken.
 * @param speaking share of its time for which each live session speaks; the new one: all of it
 * @param msPerS device milliseconds that a second of speech takes
 * @param devices engine calls at the same time
 */
export function keepsPace(speaking: readonly number[], msPerS: number, devices: number): boolean {
  const speech = speaking.reduce((sum, share) => sum + share, 1);
  return speaking.length === 0 || speech * msPerS <= USABLE * 1000 * devices;
}

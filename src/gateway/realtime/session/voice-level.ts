/** Frames, 3 s, whose quietest is the noise of the room: who speaks pauses more often. */
const MEMORY = 96;
/** Decibels below full scale: what counts as noise before anything was heard. */
const FIRST_NOISE = -55;
const LEAST_NOISE = -70;
/** Quieter is no speech whatever the room is like. */
const LEAST_SPEECH = -50;
/** Above the noise: as likely speech as not. */
const EVEN_DB = 9;
const SLOPE_DB = 3;

/** How likely a frame is speech, by its level above the noise of the last seconds. */
export class VoiceLevel {
  readonly #levels = new Float32Array(MEMORY).fill(FIRST_NOISE);
  #next = 0;

  /** @param frame PCM s16le. @returns 0..1 */
  speech(frame: Buffer): number {
    const level = decibels(frame);
    this.#levels[this.#next] = Math.max(LEAST_NOISE, level);
    this.#next = (this.#next + 1) % MEMORY;
    if (level < LEAST_SPEECH) return 0;
    const noise = Math.min(...this.#levels);
    return 1 / (1 + Math.exp(-(level - noise - EVEN_DB) / SLOPE_DB));
  }
}

function decibels(frame: Buffer): number {
  let sum = 0;
  for (let at = 0; at < frame.length; at += 2) sum += frame.readInt16LE(at) ** 2;
  const samples = frame.length / 2;
  return 10 * Math.log10(sum / samples / 32_768 ** 2 + 1e-12);
}

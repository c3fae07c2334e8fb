/** Sample rate of all audio that recognisers receive, in Hz. */
export const RECOGNISER_RATE = 16_000;

/**
 * Rate of all synthesised audio that leaves a worker, as OpenAI's `pcm` format has it.
 */
export const SPEECH_RATE = 24_000;

/**
 * The s16le samples in `bytes`; an odd last byte is left out. Shares memory where the
 * address is even: a message of 25 MB is looked at, not copied.
 */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const count = bytes.byteLength >> 1;
  if (bytes.byteOffset % 2 === 0) return new Int16Array(bytes.buffer, bytes.byteOffset, count);
  const copy = new Int16Array(count);
  bytesOf(copy).set(bytes.subarray(0, count * 2));
  return copy;
}

/** A view of the same memory as s16le bytes. */
export const bytesOf = (samples: Int16Array): Buffer =>
  Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

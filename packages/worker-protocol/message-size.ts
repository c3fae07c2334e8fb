/** Voices of four known speakers, 2 MiB each, and 1 MiB for a prompt and the rest. */
const ENVELOPE_BYTES = 9_437_184;

/**
 * Audio of this size still goes as one message: both sides hold all of it at once.
 * Beyond, `TranscribeUpload` streams it.
 */
const WHOLE_BYTES = 33_554_432;

/** The one place where the upload limit becomes the gRPC limit of both sides. */
export const maxMessageBytes = (uploadLimitBytes: number): number =>
  Math.min(uploadLimitBytes, WHOLE_BYTES) + ENVELOPE_BYTES;

/** Largest audio that fits into a message of that limit beside the other fields. */
export const maxWholeAudioBytes = (messageBytes: number): number => messageBytes - ENVELOPE_BYTES;

/** What any gateway sends at most: 41 MiB. */
export const LARGEST_MESSAGE_BYTES = maxMessageBytes(Infinity);

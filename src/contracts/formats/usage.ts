/** What a transcription is billed by at OpenAI: whole seconds, rounded up. */
export interface DurationUsage {
  readonly type: 'duration';
  readonly seconds: number;
}

/** @param durationS exact, seconds */
export function durationUsage(durationS: number): DurationUsage {
  return { type: 'duration', seconds: Math.ceil(durationS) };
}

/** The usage in `transcript.text.done`: SDKs know no other type there. */
export interface TranscriptTokenUsage {
  readonly type: 'tokens';
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly input_token_details: {
    readonly audio_tokens: number;
    readonly text_tokens: number;
  };
  /** Of the request alone; absent: the worker reports none. */
  readonly device_ms?: number;
}

/** OpenAI counts audio with ten tokens a second. */
const AUDIO_TOKENS_PER_S = 10;
/** English text, in tokens of OpenAI's. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Estimates: engines count no tokens that mean something elsewhere. @param
 * durationS exact, seconds
 */
export function transcriptTokenUsage({
  durationS,
  text,
}: {
  durationS: number;
  text: string;
}): TranscriptTokenUsage {
  const audio = Math.ceil(durationS * AUDIO_TOKENS_PER_S);
  const output = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  return {
    type: 'tokens',
    input_tokens: audio,
    output_tokens: output,
    total_tokens: audio + output,
    input_token_details: { audio_tokens: audio, text_tokens: 0 },
  };
}

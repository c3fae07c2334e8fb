import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';

/**
 * What a transcription is billed by at OpenAI: whole seconds, rounded up.
 * @param durationS exact, seconds
 */
export const durationUsage = (durationS: number) => ({
  type: 'duration',
  seconds: Math.ceil(durationS),
});

/** OpenAI counts audio with ten tokens a second. */
const AUDIO_TOKENS_PER_S = 10;
/** English text, in tokens of OpenAI's. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * The usage in `transcript.text.done`: SDKs know no other type there. Estimates: engines
 * count no tokens that mean something elsewhere.
 */
export function transcriptTokenUsage({ durationS, text }: Transcript) {
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

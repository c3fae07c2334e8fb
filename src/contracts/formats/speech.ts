import { sseData } from './server-sent-event.js';

/** One piece of encoded audio as a server-sent event. */
export function speechDelta(audio: Buffer): string {
  return sseData({ type: 'speech.audio.delta', audio: audio.toString('base64') });
}

/**
 * The last event. Speech has no tokens here, so the counts that OpenAI's clients require
 * are 0; `seconds` is what was made. @param durationS of all audio, seconds
 */
export function speechDone(durationS: number): string {
  const usage = {
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    seconds: durationS,
  };
  return sseData({ type: 'speech.audio.done', usage });
}

/** What a transcription is billed by at OpenAI: whole seconds, rounded up. */
export interface DurationUsage {
  readonly type: 'duration';
  readonly seconds: number;
}

/** @param durationS exact, seconds */
export function durationUsage(durationS: number): DurationUsage {
  return { type: 'duration', seconds: Math.ceil(durationS) };
}

import { DomainError } from '../../core/shared/domain-error.js';
import { type ItemOutcome, type TranscribeItem } from './engine.js';

export function succeeded<T>(value: T): ItemOutcome<T> {
  return { ok: true, value };
}

/** Whatever was thrown while one item was worked on, kept to that item (D-05). */
export function failed<T>(cause: unknown): ItemOutcome<T> {
  return { ok: false, error: cause instanceof Error ? cause : new DomainError('engine_failed', String(cause)) };
}

/** The outcome of an item whose signal fired: nobody reads it, but the group stays complete and in order. */
export function cancelledError(requestId: string): DomainError {
  return new DomainError('request_cancelled', `Request ${requestId} was cancelled while the engine had it.`);
}

/** The decoded samples of an item; throws `engine_failed` when the audio still is an encoded file. */
export function pcmOf({ audio }: TranscribeItem, engine: string): Int16Array {
  if (audio.kind === 'pcm') return audio.samples;
  throw new DomainError('engine_failed', `${engine} was given an encoded file; it takes PCM.`);
}

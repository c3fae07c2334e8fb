import { DomainError } from '../../../core/shared/domain-error.js';
import { type TranscribeItem } from '../engine.js';

/** Refuses what this engine could only ignore: every accepted field acts (LESSONS "Workers"). */
export function requireSupported(item: TranscribeItem): void {
  requireEnglish(item.language);
  if (item.prompt !== '') throw cannot('prompt', 'takes no prompt; leave `prompt` out');
  if (item.temperature !== 0)
    throw cannot('temperature', 'always answers the likeliest words; leave `temperature` at 0');
}

/** English or undeclared. A translation into English of English speech is its transcript, so `translate` needs no more. */
export function requireEnglish(language: string): void {
  if (language === '' || /^en(glish)?([-_]|$)/i.test(language)) return;
  throw new DomainError(
    'invalid_value',
    `PocketSphinx recognises English only; language is '${language}', allowed: en`,
    {
      param: 'language',
    },
  );
}

export function samplesOf(item: TranscribeItem): Int16Array {
  if (item.audio.kind === 'pcm') return item.audio.samples;
  throw new DomainError('engine_failed', 'PocketSphinx was given an encoded file; it takes PCM.');
}

function cannot(param: string, why: string): DomainError {
  return new DomainError('unsupported_parameter', `PocketSphinx ${why}`, { param });
}

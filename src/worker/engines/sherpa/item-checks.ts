import { DomainError } from '../../../core/shared/domain-error.js';
import { type TranscribeItem } from '../engine.js';

export interface RecognizerLimits {
  /** Languages a request may name; empty: none, the model finds out. */
  readonly languages: readonly string[];
  readonly hasTimes: boolean;
}

/** Refuses what this engine could only ignore: every accepted field acts (LESSONS "Workers"). */
export function requireSupported(item: TranscribeItem, { languages, hasTimes }: RecognizerLimits): void {
  requireLanguage(item.language, languages);
  if (item.task === 'translate') throw cannot('task', 'does not translate');
  if (item.prompt !== '') throw cannot('prompt', 'takes no prompt; leave `prompt` out');
  if (item.temperature !== 0)
    throw cannot('temperature', 'always answers the likeliest words; leave `temperature` at 0');
  if (item.logprobs) throw cannot('include[]', 'tells no log probabilities');
  if ((item.hotWords ?? []).length > 0) throw cannot('hot_words', 'takes no hot words');
  if (item.wordTimestamps && !hasTimes) throw cannot('timestamp_granularities', 'tells no times of words');
}

/** A model hears what it was loaded for: a language can be confirmed, not chosen per request. */
export function requireLanguage(language: string, languages: readonly string[]): void {
  if (language === '') return;
  const base = language.toLowerCase().split(/[-_]/, 1)[0];
  if (languages.some(known => known.toLowerCase().split('-', 1)[0] === base)) return;
  const allowed =
    languages.length === 0
      ? 'this model finds out by itself, leave `language` out or set options.language'
      : `allowed: ${languages.join(', ')}`;
  throw new DomainError('invalid_value', `language is '${language}'; ${allowed}`, { param: 'language' });
}

export function samplesOf(item: TranscribeItem): Int16Array {
  if (item.audio.kind === 'pcm') return item.audio.samples;
  throw new DomainError('engine_failed', 'sherpa-onnx was given an encoded file; it takes PCM.');
}

function cannot(param: string, why: string): DomainError {
  return new DomainError('unsupported_parameter', `This sherpa-onnx model ${why}.`, { param });
}

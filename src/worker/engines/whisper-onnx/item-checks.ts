import { DomainError } from '../../../core/shared/domain-error.js';
import { type TranscribeItem } from '../engine.js';
import { type WhisperInfo } from './whisper-protocol.js';

/** Refuses what this model could only ignore: every accepted field acts (LESSONS "Workers"). */
export function requireSupported(item: TranscribeItem, model: WhisperInfo): void {
  languageOf(item, model);
  if (item.task === 'translate' && !model.multilingual && item.language !== '' && !/^en\b/i.test(item.language)) {
    throw new DomainError('unsupported_task', 'This Whisper model knows English only and cannot translate.');
  }
  if (item.wordTimestamps && !model.wordTimestamps) {
    const why = 'This Whisper model was exported without cross attentions and has no times of words';
    throw new DomainError('unsupported_parameter', `${why}; leave \`word\` out of \`timestamp_granularities\`.`, {
      param: 'timestamp_granularities',
    });
  }
  if (item.diarize) {
    throw new DomainError('unsupported_parameter', 'Whisper does not tell speakers apart.', {
      param: 'response_format',
    });
  }
}

/** The model's code of the language asked for: `en-US` → `en`; empty: to be detected. */
export function languageOf({ language }: TranscribeItem, model: WhisperInfo): string {
  const code = language.toLowerCase().split(/[-_]/, 1)[0] ?? '';
  if (code === '' || model.languages.includes(code)) return code;
  const allowed = model.languages.join(', ');
  throw new DomainError(
    'invalid_value',
    `This Whisper model does not know the language '${language}'; allowed: ${allowed}`,
    {
      param: 'language',
    },
  );
}

export function samplesOf(item: TranscribeItem): Int16Array {
  if (item.audio.kind === 'pcm') return item.audio.samples;
  throw new DomainError('engine_failed', 'Whisper was given an encoded file; it takes PCM.');
}

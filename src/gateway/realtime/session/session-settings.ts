import { invalidField } from '../../../contracts/schema/field-problems.js';
import { type IgnoredFields } from '../../../contracts/openai/field-types.js';
import {
  readOlderSession,
  readSession,
  type SessionConfig,
} from '../../../contracts/realtime/session-config.js';
import { type Dialect } from '../../../contracts/realtime/session-view.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import {
  cannotHonour,
  demandLanguage,
  knowsLanguage,
} from '../../models/model-abilities.js';
import { type ModelCatalog } from '../../models/model-catalog.js';

const PATHS = {
  ga: {
    transcription: 'session.audio.input.transcription',
    format: 'session.audio.input.format',
  },
  older: {
    transcription: 'session.input_audio_transcription',
    format: 'session.input_audio_format',
  },
} as const;

interface Honouring {
  readonly catalog: ModelCatalog;
  readonly ignored: IgnoredFields;
}

/**
 * The session with an update applied. Fields that only advise and cannot be honoured are
 * added to `ignored` (D-34).
 * @throws DomainError naming the field; nothing is applied then.
 */
export function updatedSession(
  value: unknown,
  {
    current,
    dialect,
    catalog,
    ignored,
  }: Honouring & { current: SessionConfig; dialect: Dialect },
): SessionConfig {
  const next =
    dialect === 'ga'
      ? readSession(value, current, ignored)
      : readOlderSession(value, current, ignored);
  return resolveSession(next, { catalog, ignored, path: PATHS[dialect].transcription });
}

/**
 * The session with what its model can honour.
 * @throws DomainError for what changes the meaning and cannot be honoured
 */
export function resolveSession(
  wanted: SessionConfig,
  { catalog, ignored, path }: Honouring & { path: string },
): SessionConfig {
  const spec = at(`${path}.model`, () => catalog.getOfKind(wanted.model, 'stt'));
  const { languages = [], ...config } = wanted;
  const language =
    languages.length === 0
      ? config.language
      : chosenLanguage(languages, { spec, ignored, path });
  const promptIgnored =
    config.prompt !== '' && !spec.capabilities.includes('prompt') && !ignored.strict;
  if (promptIgnored) ignored.paths.push(`${path}.prompt`);
  const next = { ...config, language, ...(promptIgnored && { prompt: '' }) };
  demandTranscribing(next, catalog, path);
  return next;
}

/**
 * A recogniser takes one language: the only candidate that it knows, or none, and it
 * detects the language.
 */
function chosenLanguage(
  languages: readonly string[],
  { spec, ignored, path }: { spec: ModelSpec; ignored: IgnoredFields; path: string },
): string {
  const [first = '', ...others] = languages.filter(language =>
    knowsLanguage(spec, language),
  );
  if (first === '') at(`${path}.languages`, () => demandLanguage(spec, languages[0]!));
  if (languages.length > 1) ignored.paths.push(`${path}.languages`);
  return others.length === 0 ? first : '';
}

/**
 * The model of the session, if it can transcribe what the session
 * wants. @throws DomainError
 */
export function demandTranscribing(
  config: SessionConfig,
  catalog: ModelCatalog,
  path = 'session',
): ModelSpec {
  const spec = at(`${path}.model`, () => catalog.getOfKind(config.model, 'stt'));
  at(`${path}.language`, () => demandLanguage(spec, config.language));
  const prompt = { param: `${path}.prompt`, capability: 'prompt' };
  if (config.prompt !== '' && !spec.capabilities.includes('prompt'))
    throw cannotHonour(spec, prompt, catalog);
  return spec;
}

/** @throws DomainError `invalid_value` when audio has come in under another format. */
export function demandSameFormat(
  next: SessionConfig,
  current: SessionConfig,
  dialect: Dialect,
): void {
  if (JSON.stringify(next.format) === JSON.stringify(current.format)) return;
  const param = PATHS[dialect].format;
  throw invalidField(param, `\`${param}\` cannot change once audio was sent.`);
}

/** What a stream on a worker depends on. */
const STREAM_SETTINGS = ['model', 'language', 'prompt', 'turnDetection'] as const;

export const needsNewStream = (a: SessionConfig, b: SessionConfig): boolean =>
  STREAM_SETTINGS.some(name => JSON.stringify(a[name]) !== JSON.stringify(b[name]));

/** Whatever the check calls its field, the client knows it by `param`. */
function at<T>(param: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.code, error.message, { param, cause: error });
  }
}

import { EVENT_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import {
  PLAIN_TRANSCRIPTION,
  type Transcript,
  type TranscriptionParams,
  type VoiceActivityOptions,
  type KnownSpeaker,
} from '@switchyard/engine-api/speech-recognizer.js';
import {
  type transcriptBody,
  type TranscriptBodyOptions,
  type TranscriptFormat,
} from '../../contracts/formats/transcript-body.js';
import { type FieldNature, type ServiceTier } from '../../contracts/openai/field-types.js';
import {
  TranscriptionDto,
  transcriptionParams,
  ServerVadDto,
} from '../../contracts/openai/transcription.dto.js';
import { TranslationDto } from '../../contracts/openai/translation.dto.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { parseDto } from '../http/dto-validation.js';
import { MAX_REFERENCE_BYTES } from '../http/multipart-form.js';
import {
  demandAbilities,
  demandLanguage,
  knownCandidate,
  type Strictness,
} from '../models/model-abilities.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { type WrittenFormParams } from '../written-form/written-form.js';

const DATA_URL = /^data:[^,]{0,200};base64,/i;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const NAMES = 'known_speaker_names';

const REFERENCES = 'known_speaker_references';

/**
 * Names and their voices, decoded from data URLs. The worker, which decodes the audio,
 * checks its length.
 * @throws DomainError `invalid_value` for the first problem; entries are counted from 0,
 *   as in the request.
 */
function knownSpeakers(fields: {
  readonly known_speaker_names: readonly string[];
  readonly known_speaker_references: readonly string[];
}): readonly KnownSpeaker[] {
  const { known_speaker_names: names, known_speaker_references: references } = fields;
  if (names.length !== references.length) {
    const counts = `${names.length} and ${references.length}`;
    const message = `\`${NAMES}\` and \`${REFERENCES}\` must come in pairs; got ${counts}.`;
    throw invalidField(names.length < references.length ? NAMES : REFERENCES, message);
  }
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice >= 0)
    throw invalidField(
      NAMES,
      `\`${NAMES}[${twice}]\` must differ from the others; got "${names[twice]}".`,
    );
  return names.map((name, index) => ({
    name,
    reference: referenceIn(references[index] ?? '', index),
  }));
}

/**
 * The audio in a data URL. Its media type is a claim of the sender: the content decides.
 */
function referenceIn(url: string, index: number): Buffer {
  const [prefix] = DATA_URL.exec(url) ?? [];
  if (prefix === undefined) {
    throw wrongReference(
      index,
      `must be a data URL such as data:audio/wav;base64,UklGR…; got "${url.slice(0, 40)}"`,
    );
  }
  const bytes = Math.floor(((url.length - prefix.length) * 3) / 4);
  if (bytes > MAX_REFERENCE_BYTES + 2) {
    throw wrongReference(
      index,
      `must hold at most ${MAX_REFERENCE_BYTES} bytes of audio; got about ${bytes}`,
    );
  }
  const base64 = url.slice(prefix.length);
  if (base64 === '' || base64.length % 4 !== 0 || !BASE64.test(base64)) {
    throw wrongReference(index, 'must hold audio in base64, padded to a multiple of 4 characters');
  }
  return Buffer.from(base64, 'base64');
}

const wrongReference = (index: number, rule: string): DomainError =>
  invalidField(REFERENCES, `\`${REFERENCES}[${index}]\` ${rule}.`);

const PARAM = 'chunking_strategy';

const SHOWN_CHARACTERS = 80;

/**
 * The form field `chunking_strategy`: `auto`, an object as JSON, or an object
 * as bracketed fields.
 * @returns undefined for `auto` and absent: the worker cuts as it thinks best.
 * @throws DomainError `invalid_value` or `missing_required_parameter`, naming the field
 *   within the object.
 */
function chunkingStrategy(value: unknown): VoiceActivityOptions | undefined {
  const given = typeof value === 'string' ? parsed(value) : value;
  if (given === undefined || given === null || given === 'auto') return undefined;
  if (typeof given !== 'object' || Array.isArray(given)) throw neither(value);
  const { threshold, prefix_padding_ms, silence_duration_ms } = serverVad(
    given as Record<string, unknown>,
  );
  return {
    threshold,
    prefixPaddingMs: prefix_padding_ms,
    silenceDurationMs: silence_duration_ms,
  };
}

function parsed(text: string): unknown {
  try {
    return parseBoundedJson(text, EVENT_BOUNDS);
  } catch {
    return text;
  }
}

function serverVad(fields: Record<string, unknown>): ServerVadDto {
  try {
    return parseDto(ServerVadDto, fields);
  } catch (error) {
    if (!(error instanceof DomainError) || error.param === undefined) throw error;
    const message = error.message.replace(`\`${error.param}\``, `\`${PARAM}.${error.param}\``);
    throw new DomainError(error.code, message, { param: PARAM, cause: error });
  }
}

function neither(value: unknown): DomainError {
  const allowed = 'auto or an object such as {"type":"server_vad","threshold":0.5}';
  return invalidField(
    PARAM,
    `\`${PARAM}\` must be ${allowed}; got ${writeJson(value).slice(0, SHOWN_CHARACTERS)}.`,
  );
}

/** What a valid form asks for. */
export interface ParsedTranscription {
  readonly model: ModelSpec;
  readonly tier: ServiceTier;
  readonly params: TranscriptionParams;
  readonly answer: TranscriptBodyOptions;
  readonly itn: WrittenFormParams;
  /** Advisory fields that this model, or this format, cannot use. */
  readonly ignored: readonly string[];
  /** How a whole transcript is written; default: as `answer` says. */
  readonly write?: (transcript: Transcript) => ReturnType<typeof transcriptBody>;
}

/** @throws DomainError for the first thing wrong with the form. */
export function parseTranscription(
  fields: Fields,
  catalog: ModelCatalog,
  compat?: Strictness,
): ParsedTranscription {
  const sent = parseDto(TranscriptionDto, fields);
  const model = catalog.getOfKind(sent.model, 'stt');
  const unusable = [
    ...uselessWithFormat(sent, compat),
    ...demandAbilities(model, { dto: sent, body: fields }, catalog, compat),
  ];
  if (sent.language !== undefined) demandLanguage(model, sent.language);
  const { language, ignored: languages } = chosenLanguage(model, sent);
  const ignored = [...unusable, ...languages];
  const dto = { ...withDefaults(sent, unusable, TranscriptionDto), language };
  const chunking = chunkingStrategy(dto.chunking_strategy);
  return {
    model,
    tier: dto.service_tier,
    ignored,
    params: {
      ...transcriptionParams(dto),
      knownSpeakers: knownSpeakers(dto),
      ...(chunking && { chunking }),
    },
    answer: {
      task: 'transcribe',
      format: dto.response_format,
      stream: dto.stream,
      granularities: dto.timestamp_granularities ?? ['segment'],
    },
    itn: writtenFormOf(dto, model, dto.language === undefined ? model.languages : [dto.language]),
  };
}

/**
 * A model that cannot translate is accepted when it recognises English only: its
 * transcript is English already.
 * @throws DomainError `unsupported_task` for any other model that cannot; names the
 *   models that can.
 */
export function parseTranslation(
  fields: Fields,
  catalog: ModelCatalog,
  compat?: Strictness,
): ParsedTranscription {
  const sent = parseDto(TranslationDto, fields);
  const model = catalog.getOfKind(sent.model, 'stt');
  const translates = model.capabilities.includes('translate');
  if (!translates && !speaksOnlyEnglish(model)) throw cannotTranslate(model, catalog);
  const ignored = demandAbilities(model, { dto: sent, body: fields }, catalog, compat);
  const dto = withDefaults(sent, ignored, TranslationDto);
  const { prompt, temperature, response_format: format } = dto;
  return {
    model,
    tier: dto.service_tier,
    ignored,
    params: {
      ...PLAIN_TRANSCRIPTION,
      task: translates ? 'translate' : 'transcribe',
      prompt,
      temperature,
      diarize: format === 'diarized_json',
    },
    answer: { task: 'translate', format, stream: false, granularities: ['segment'] },
    itn: writtenFormOf(dto, model, ['en']),
  };
}

/**
 * Fields that cannot be used get their defaults, so that the worker does not have to
 * know about them.
 */
const withDefaults = <T extends object>(
  dto: Readonly<T>,
  names: readonly string[],
  type: new () => T,
): Readonly<T> => {
  if (names.length === 0) return dto;
  const defaults = new type() as Record<string, unknown>;
  return { ...dto, ...Object.fromEntries(names.map(name => [name, defaults[name]])) };
};

const writtenFormOf = (
  { itn }: TranslationDto,
  model: ModelSpec,
  languages: readonly string[],
): WrittenFormParams => ({
  wanted: itn ?? model.itn ?? false,
  demanded: itn === true,
  languages,
});

/** Fields that act in some formats only. */
const FORMAT_RULES: readonly {
  readonly param: keyof TranscriptionDto;
  readonly nature: FieldNature;
  readonly formats: readonly TranscriptFormat[];
}[] = [
  { param: 'timestamp_granularities', nature: 'meaning', formats: ['verbose_json'] },
  { param: 'stream', nature: 'advice', formats: ['json', 'text', 'diarized_json'] },
  { param: 'include', nature: 'advice', formats: ['json'] },
  { param: 'known_speaker_names', nature: 'meaning', formats: ['diarized_json'] },
  { param: 'known_speaker_references', nature: 'meaning', formats: ['diarized_json'] },
];

/**
 * Fields that act with some formats only. None of them has a default that asks
 * for something.
 * @returns the advisory ones: SDKs document that `stream` is ignored where an answer
 *   cannot be streamed
 * @throws DomainError `invalid_value` for the others
 */
function uselessWithFormat(
  dto: TranscriptionDto,
  { strict }: Strictness = { strict: false },
): readonly string[] {
  const format = dto.response_format;
  const useless: string[] = [];
  for (const { param, nature, formats } of FORMAT_RULES) {
    const value = dto[param];
    const isGiven = Array.isArray(value) ? value.length > 0 : Boolean(value);
    if (!isGiven || formats.includes(format)) continue;
    if (strict || nature === 'meaning') {
      const message = `\`${param}\` needs response_format=${formats.join(' or ')}; got ${format}.`;
      throw invalidField(param, message);
    }
    useless.push(param);
  }
  return useless;
}

/**
 * `languages` are candidates. If the model recognises exactly one of them, that is the
 * language; among several it detects it.
 * @throws DomainError `invalid_value` when it recognises none of them.
 */
function chosenLanguage(model: ModelSpec, { language, languages }: TranscriptionDto) {
  if (languages.length === 0) return { language, ignored: [] };
  if (language !== undefined) return { language, ignored: ['languages'] };
  const known = knownCandidate(model, languages, 'languages');
  return { language: known, ignored: known === undefined ? ['languages'] : [] };
}

/** Whether a model recognises English only, so that its transcript is its translation. */
const speaksOnlyEnglish = ({ languages }: ModelSpec): boolean =>
  languages.length > 0 && languages.every(tag => /^en(-|$)/i.test(tag));

function cannotTranslate(model: ModelSpec, catalog: ModelCatalog): DomainError {
  const able = catalog.namesAble('stt', 'translate');
  const message = `The model \`${model.id}\` cannot translate; models that can: ${able}.`;
  return new DomainError('unsupported_task', message, { param: 'model' });
}

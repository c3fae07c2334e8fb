import { type TranscriptBodyOptions, type TranscriptFormat } from '../../contracts/formats/transcript-body.js';
import { type TranscriptTask } from '../../contracts/formats/transcript.js';
import { type ServiceTier } from '../../contracts/openai/service-tier.js';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { TranslationDto } from '../../contracts/openai/translation.dto.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type WrittenFormOrder } from '../text/written-form.js';
import { type TranscribeTask } from '../worker-pool/worker-task.js';
import { chunkingStrategy } from './chunking-strategy.js';
import { knownSpeakers } from './known-speakers.js';
import { type AbilityDemand, demandAbilities, demandLanguage, speaksOnlyEnglish } from './model-abilities.js';
import { type ModelCatalog } from './model-catalog.js';
import { RepeatedForms } from './repeated-forms.js';

/** What a validated form asks for: the model, the worker's options, and the shape of the answer. */
export interface TranscriptOrder {
  readonly model: ModelSpec;
  readonly tier: ServiceTier;
  readonly options: Omit<TranscribeTask, 'kind' | 'audio' | 'filename'>;
  readonly answer: TranscriptBodyOptions;
  readonly itn: WrittenFormOrder;
}

type Fields = Readonly<Record<string, unknown>>;

const transcriptions = new RepeatedForms(TranscriptionDto);
const translations = new RepeatedForms(TranslationDto);

/** @throws DomainError for the first thing wrong with the form. */
export function transcriptionOrder(fields: Fields, catalog: ModelCatalog): TranscriptOrder {
  const dto = transcriptions.parse(fields);
  const model = catalog.getOfKind(dto.model, 'stt');
  refuseContradictions(dto);
  demandAbilities(model, [...textDemands(dto), ...speechDemands(dto)], catalog);
  demandLanguage(model, dto.language ?? '');
  const order = orderOf(dto, model, 'transcribe');
  return {
    ...order,
    options: { ...order.options, ...spokenOptions(dto) },
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
 * A model that cannot translate is used all the same when it knows English only: what it hears is English already.
 * @throws DomainError `unsupported_task` for any other model that cannot; names the models that can.
 */
export function translationOrder(fields: Fields, catalog: ModelCatalog): TranscriptOrder {
  const dto = translations.parse(fields);
  const model = catalog.getOfKind(dto.model, 'stt');
  const translates = model.capabilities.includes('translate');
  if (!translates && !speaksOnlyEnglish(model)) throw cannotTranslate(model, catalog);
  demandAbilities(model, textDemands(dto), catalog);
  return {
    ...orderOf(dto, model, translates ? 'translate' : 'transcribe'),
    answer: { task: 'translate', format: dto.response_format, stream: false, granularities: ['segment'] },
    itn: writtenFormOf(dto, model, ['en']),
  };
}

function orderOf(dto: TranslationDto, model: ModelSpec, task: TranscriptTask): Omit<TranscriptOrder, 'answer' | 'itn'> {
  const { prompt, temperature } = dto;
  return {
    model,
    tier: dto.service_tier,
    options: { task, language: '', prompt, temperature, wordTimestamps: false },
  };
}

/** What only transcriptions can ask for. */
function spokenOptions(dto: TranscriptionDto) {
  const chunking = chunkingStrategy(dto.chunking_strategy);
  return {
    language: dto.language ?? '',
    wordTimestamps: dto.timestamp_granularities?.includes('word') ?? false,
    logprobs: dto.include.includes('logprobs'),
    diarize: dto.response_format === 'diarized_json',
    knownSpeakers: knownSpeakers(dto),
    hotWords: [...new Set([...dto.hot_words, ...dto.keywords])],
    ...(chunking && { chunking }),
  };
}

const writtenFormOf = ({ itn }: TranslationDto, model: ModelSpec, languages: readonly string[]): WrittenFormOrder => ({
  wanted: itn ?? model.itn ?? false,
  demanded: itn === true,
  languages,
});

const textDemands = ({ prompt, temperature }: TranslationDto) => [
  { param: 'prompt', capability: 'prompt', wanted: prompt !== '' },
  { param: 'temperature', capability: 'temperature', wanted: temperature > 0 },
];

const speechDemands = (dto: TranscriptionDto): readonly AbilityDemand[] => [
  {
    param: 'response_format',
    shown: 'response_format=diarized_json',
    capability: 'diarize',
    wanted: dto.response_format === 'diarized_json',
  },
  { param: 'include', capability: 'logprobs', wanted: dto.include.length > 0 },
  {
    param: 'timestamp_granularities',
    capability: 'word_timestamps',
    wanted: dto.timestamp_granularities?.includes('word') === true,
  },
  { param: 'hot_words', capability: 'hot_words', wanted: dto.hot_words.length > 0 },
  { param: 'keywords', capability: 'hot_words', wanted: dto.keywords.length > 0 },
];

/** Fields that act with some formats only. */
function refuseContradictions(dto: TranscriptionDto): void {
  const rules: readonly (readonly [keyof TranscriptionDto, boolean, readonly TranscriptFormat[]])[] = [
    ['timestamp_granularities', dto.timestamp_granularities !== undefined, ['verbose_json']],
    ['stream', dto.stream, ['json', 'text', 'diarized_json']],
    ['include', dto.include.length > 0, ['json']],
    ['known_speaker_names', dto.known_speaker_names.length > 0, ['diarized_json']],
    ['known_speaker_references', dto.known_speaker_references.length > 0, ['diarized_json']],
  ];
  const broken = rules.find(([, given, formats]) => given && !formats.includes(dto.response_format));
  if (broken === undefined) return;
  const [param, , formats] = broken;
  const message = `\`${param}\` needs response_format=${formats.join(' or ')}; got ${dto.response_format}.`;
  throw new DomainError('invalid_value', message, { param });
}

function cannotTranslate(model: ModelSpec, catalog: ModelCatalog): DomainError {
  const able = catalog.namesAble('stt', 'translate');
  const message = `The model \`${model.id}\` cannot translate; models that can: ${able}.`;
  return new DomainError('unsupported_task', message, { param: 'model' });
}

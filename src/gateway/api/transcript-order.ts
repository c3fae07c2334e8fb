import { type TranscriptBodyOptions } from '../../contracts/formats/transcript-body.js';
import { type TranscriptTask } from '../../contracts/formats/transcript.js';
import { type ServiceTier } from '../../contracts/openai/service-tier.js';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { TranslationDto } from '../../contracts/openai/translation.dto.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type WrittenFormOrder } from '../text/written-form.js';
import { type TranscribeTask } from '../worker-pool/worker-task.js';
import { demandAbilities, demandLanguage, speaksOnlyEnglish } from './model-abilities.js';
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
  refuseDiarisation(fields);
  const dto = transcriptions.parse(fields);
  const model = catalog.getOfKind(dto.model, 'stt');
  const granularities = dto.timestamp_granularities;
  refuseContradictions(dto);
  demandAbilities(
    model,
    [
      ...textDemands(dto),
      { param: 'include', capability: 'logprobs', wanted: dto.include.length > 0 },
      {
        param: 'timestamp_granularities',
        capability: 'word_timestamps',
        wanted: granularities?.includes('word') === true,
      },
    ],
    catalog,
  );
  demandLanguage(model, dto.language ?? '');
  return {
    ...orderOf(dto, model, 'transcribe'),
    answer: {
      task: 'transcribe',
      format: dto.response_format,
      stream: dto.stream,
      granularities: granularities ?? ['segment'],
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
  const spoken = dto instanceof TranscriptionDto ? dto : undefined;
  return {
    model,
    tier: dto.service_tier,
    options: {
      task,
      language: spoken?.language ?? '',
      prompt: dto.prompt,
      temperature: dto.temperature,
      wordTimestamps: spoken?.timestamp_granularities?.includes('word') ?? false,
    },
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

function refuseContradictions({ timestamp_granularities, response_format, stream }: TranscriptionDto): void {
  if (timestamp_granularities !== undefined && response_format !== 'verbose_json') {
    const message = `\`timestamp_granularities\` needs response_format=verbose_json; got ${response_format}.`;
    throw new DomainError('invalid_value', message, { param: 'timestamp_granularities' });
  }
  if (stream && response_format !== 'json' && response_format !== 'text') {
    const message = `\`stream\` needs response_format json or text; got ${response_format}.`;
    throw new DomainError('invalid_value', message, { param: 'stream' });
  }
}

/** Before the DTO, so that `diarized_json` is told apart from a format nobody knows. */
function refuseDiarisation(fields: Fields): void {
  const refused = [
    ['response_format', fields.response_format === 'diarized_json'],
    ['known_speaker_names', fields.known_speaker_names !== undefined],
    ['known_speaker_references', fields.known_speaker_references !== undefined],
    ['chunking_strategy', (fields.chunking_strategy ?? 'auto') !== 'auto'],
  ] as const;
  const found = refused.find(([, present]) => present);
  if (found === undefined) return;
  const [param] = found;
  const message =
    param === 'chunking_strategy'
      ? '`chunking_strategy` must be auto: the server decides where to cut.'
      : `No model here tells speakers apart, so \`${param}\` cannot be honoured.`;
  throw new DomainError('unsupported_parameter', message, { param });
}

function cannotTranslate(model: ModelSpec, catalog: ModelCatalog): DomainError {
  const able = catalog.namesAble('stt', 'translate');
  const message = `The model \`${model.id}\` cannot translate; models that can: ${able}.`;
  return new DomainError('unsupported_task', message, { param: 'model' });
}

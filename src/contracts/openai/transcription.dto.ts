import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { type TranscriptionParams } from '@switchyard/engine-api/speech-recognizer.js';
import {
  choiceOf,
  commaSeparated,
  custom,
  trueOrFalse,
  fromForm,
  language,
  languages,
  number,
  repeatedOneOf,
  repeatedTexts,
  whole,
  advice,
  honoured,
  meaning,
} from './field-types.js';
import { Field, RequiredField } from './field.decorators.js';
import { TranslationDto } from './translation.dto.js';

const LONGEST_MS = 10_000;
const milliseconds = () =>
  fromForm(whole(0, LONGEST_MS, `must be a whole number from 0 to ${LONGEST_MS}`));

/** The object form of `chunking_strategy`. Defaults are OpenAI's. */
export class ServerVadDto {
  @RequiredField(choiceOf(['server_vad']))
  type!: 'server_vad';

  @Field(fromForm(number(0, 1)), { default: 0.5, description: 'What counts as speech.' })
  threshold = 0.5;

  @Field(milliseconds(), { default: 300 })
  prefix_padding_ms = 300;

  @Field(milliseconds(), { default: 200 })
  silence_duration_ms = 200;
}

const MAX_SPEAKERS = 4;
const MAX_WORDS = 100;
const NEEDS_SPEAKERS = honoured('Refused without `diarized_json`.');

/** Read by `chunkingStrategy`. */
const CHUNKING = custom(
  { oneOf: [{ type: 'string', enum: ['auto'] }, { $ref: getSchemaPath(ServerVadDto) }] },
  () => true,
  'is checked elsewhere',
);

/**
 * Fields of `POST /v1/audio/transcriptions`. Unknown ones are accepted and reported, as
 * newer clients send them.
 */
@ApiExtraModels(ServerVadDto)
export class TranscriptionDto extends TranslationDto {
  @Field(language(), {
    description:
      'BCP-47, such as `en`, or a name, such as `english`; rejected if the model does not recognise it. ' +
      '`auto` has the same effect as no language.',
    rule: honoured('A tag or an English name; refused if the model does not recognise it.'),
  })
  language?: string;

  @Field(languages(100), {
    name: 'languages[]',
    description:
      'Languages that may be spoken, if `language` is absent. If the model recognises exactly one of them, that is ' +
      'the language; among several the model detects it. Rejected if it recognises none.',
    rule: honoured(
      'Ignored with notice when several of them are possible: the model detects the language.',
    ),
  })
  languages: string[] = [];

  @Field(repeatedOneOf(['word', 'segment']), {
    name: 'timestamp_granularities[]',
    description: 'Only with `response_format=verbose_json`; default `segment`.',
    rule: meaning(
      'word_timestamps',
      '`word` needs the capability; with `verbose_json` only.',
      'word',
    ),
  })
  timestamp_granularities?: ('word' | 'segment')[];

  @Field(fromForm(trueOrFalse()), {
    default: false,
    description:
      'Server-sent events with `response_format` json, text or diarized_json; ignored with the others. One delta per ' +
      'segment; with diarized_json each is followed by its `transcript.text.segment`.',
    rule: honoured('Ignored with notice where the `response_format` cannot be streamed.'),
  })
  stream = false;

  @Field(repeatedOneOf(['logprobs']), {
    name: 'include[]',
    description:
      'Log probability per token, with `response_format=json`, of models that have them; ignored elsewhere.',
    rule: advice(
      'logprobs',
      'Ignored with notice where the `response_format` has no place for it, too.',
    ),
  })
  include: string[] = [];

  @Field(CHUNKING, {
    description:
      'Where long audio is cut. `auto`: the server decides. An object, as JSON or as `chunking_strategy[type]` and ' +
      'so on, defines what counts as speech and how long a pause must be.',
  })
  chunking_strategy?: unknown;

  @Field(repeatedTexts(MAX_SPEAKERS, 64), {
    name: 'known_speaker_names[]',
    description:
      'Names for the voices of `known_speaker_references[]`; only with `response_format=diarized_json`.',
    rule: NEEDS_SPEAKERS,
  })
  known_speaker_names: string[] = [];

  @Field(repeatedTexts(MAX_SPEAKERS, Infinity), {
    name: 'known_speaker_references[]',
    description:
      'One data URL per name: 2 to 10 seconds of that voice alone, in any audio format, at most 2 MiB.',
    rule: NEEDS_SPEAKERS,
  })
  known_speaker_references: string[] = [];

  @Field(commaSeparated(MAX_WORDS, 100), {
    description:
      'Ours: words and phrases to expect, repeated or separated by commas. Ignored by models that cannot use them.',
    rule: advice('hot_words', 'Ours.'),
  })
  hot_words: string[] = [];

  @Field(repeatedTexts(MAX_WORDS, 100), {
    name: 'keywords[]',
    description:
      "OpenAI's name for `hot_words`; an entry may hold commas. Both together are one list.",
    rule: advice('hot_words'),
  })
  keywords: string[] = [];
}

/** What it asks of a worker; voices and the cutting of long audio are read apart. */
export const transcriptionParams = (
  dto: TranscriptionDto,
): Omit<TranscriptionParams, 'knownSpeakers' | 'chunking'> => ({
  task: 'transcribe',
  language: dto.language ?? '',
  prompt: dto.prompt,
  temperature: dto.temperature,
  wordTimestamps: dto.timestamp_granularities?.includes('word') ?? false,
  logprobs: dto.include.includes('logprobs'),
  diarize: dto.response_format === 'diarized_json',
  hotWords: [...new Set([...dto.hot_words, ...dto.keywords])],
});

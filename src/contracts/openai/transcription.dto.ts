import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsInt, IsNumber, IsOptional, IsString } from 'class-validator';
import { type TimestampGranularity } from '../formats/transcript-json.js';
import {
  BooleanFromForm,
  CommaListFromForm,
  InRange,
  LanguageFromForm,
  LanguageTag,
  ListFromForm,
  NumberFromForm,
  OneOf,
  TextList,
} from './field.decorators.js';
import { TranslationDto } from './translation.dto.js';

export class DurationUsageDto {
  @ApiProperty({ example: 'duration' })
  type!: 'duration';

  @ApiProperty({ example: 4, description: 'Seconds of audio, rounded up.' })
  seconds!: number;
}

/** `response_format: json`; documentation only, the body is written by `formats/transcript-body.ts`. */
export class TranscriptDto {
  @ApiProperty({ example: 'the quick brown fox jumps over the lazy dog' })
  text!: string;

  @ApiPropertyOptional({ type: DurationUsageDto })
  usage?: DurationUsageDto;
}

const LONGEST_MS = 10_000;

/** The object form of `chunking_strategy`. Defaults are OpenAI's. */
export class ServerVadDto {
  @ApiProperty({ enum: ['server_vad'] })
  @OneOf(['server_vad'])
  type!: 'server_vad';

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: 1, default: 0.5, description: 'What counts as speech.' })
  @NumberFromForm()
  @IsNumber({ allowNaN: false, allowInfinity: false }, { message: 'must be a number from 0 to 1' })
  @InRange(0, 1)
  threshold = 0.5;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: LONGEST_MS, default: 300 })
  @NumberFromForm()
  @IsInt({ message: `must be a whole number from 0 to ${LONGEST_MS}` })
  @InRange(0, LONGEST_MS)
  prefix_padding_ms = 300;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: LONGEST_MS, default: 200 })
  @NumberFromForm()
  @IsInt({ message: `must be a whole number from 0 to ${LONGEST_MS}` })
  @InRange(0, LONGEST_MS)
  silence_duration_ms = 200;
}

const GRANULARITIES = ['word', 'segment'] as const;
const INCLUDABLE = ['logprobs'] as const;
const MAX_SPEAKERS = 4;
const MAX_LANGUAGES = 100;
const MAX_HOT_WORDS = 100;

/** Fields of `POST /v1/audio/transcriptions`. Unknown ones are accepted and ignored, as newer clients send them. */
@ApiExtraModels(ServerVadDto)
export class TranscriptionDto extends TranslationDto {
  @ApiPropertyOptional({
    description:
      'BCP-47, such as `en`, or a name, such as `english`; rejected if the model does not recognise it. ' +
      '`auto` has the same effect as no language.',
  })
  @LanguageFromForm()
  @IsOptional()
  @IsString({ message: 'must be a BCP-47 tag such as en or pt-BR' })
  @LanguageTag()
  language?: string;

  @ApiPropertyOptional({
    name: 'languages[]',
    isArray: true,
    type: String,
    maxItems: MAX_LANGUAGES,
    description:
      'Languages that may be spoken, if `language` is absent. If the model recognises exactly one of them, that is ' +
      'the language; among several the model detects it. Rejected if it recognises none.',
  })
  @ListFromForm()
  @TextList(MAX_LANGUAGES, 35)
  @LanguageTag({ each: true })
  languages: string[] = [];

  @ApiPropertyOptional({
    name: 'timestamp_granularities[]',
    enum: GRANULARITIES,
    isArray: true,
    description: 'Only with `response_format=verbose_json`; default `segment`.',
  })
  @ListFromForm()
  @IsOptional()
  @IsArray({ message: 'must be a list' })
  @OneOf(GRANULARITIES, { each: true })
  timestamp_granularities?: TimestampGranularity[];

  @ApiPropertyOptional({
    type: Boolean,
    default: false,
    description:
      'Server-sent events with `response_format` json, text or diarized_json; ignored with the others. One delta per ' +
      'segment; with diarized_json each is followed by its `transcript.text.segment`.',
  })
  @BooleanFromForm()
  @IsBoolean({ message: 'must be true or false' })
  stream = false;

  @ApiPropertyOptional({
    name: 'include[]',
    enum: INCLUDABLE,
    isArray: true,
    description: 'Log probability per token, with `response_format=json`, of models that have them; ignored elsewhere.',
  })
  @ListFromForm()
  @IsOptional()
  @OneOf(INCLUDABLE, { each: true })
  include: string[] = [];

  @ApiPropertyOptional({
    oneOf: [{ type: 'string', enum: ['auto'] }, { $ref: getSchemaPath(ServerVadDto) }],
    description:
      'Where long audio is cut. `auto`: the server decides. An object, as JSON or as `chunking_strategy[type]` and ' +
      'so on, defines what counts as speech and how long a pause must be.',
  })
  @IsOptional()
  chunking_strategy?: unknown;

  @ApiPropertyOptional({
    name: 'known_speaker_names[]',
    isArray: true,
    type: String,
    maxItems: MAX_SPEAKERS,
    description: 'Names for the voices of `known_speaker_references[]`; only with `response_format=diarized_json`.',
  })
  @ListFromForm()
  @TextList(MAX_SPEAKERS, 64)
  known_speaker_names: string[] = [];

  @ApiPropertyOptional({
    name: 'known_speaker_references[]',
    isArray: true,
    type: String,
    maxItems: MAX_SPEAKERS,
    description: 'One data URL per name: 2 to 10 seconds of that voice alone, in any audio format, at most 2 MiB.',
  })
  @ListFromForm()
  @TextList(MAX_SPEAKERS, Infinity)
  known_speaker_references: string[] = [];

  @ApiPropertyOptional({
    isArray: true,
    type: String,
    maxItems: MAX_HOT_WORDS,
    description:
      'Ours: words and phrases to expect, repeated or separated by commas. Ignored by models that cannot use them.',
  })
  @CommaListFromForm()
  @TextList(MAX_HOT_WORDS, 100)
  hot_words: string[] = [];

  @ApiPropertyOptional({
    name: 'keywords[]',
    isArray: true,
    type: String,
    maxItems: MAX_HOT_WORDS,
    description: "OpenAI's name for `hot_words`; an entry may hold commas. Both together are one list.",
  })
  @ListFromForm()
  @TextList(MAX_HOT_WORDS, 100)
  keywords: string[] = [];
}

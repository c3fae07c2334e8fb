import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsOptional, IsString } from 'class-validator';
import { type TimestampGranularity } from '../formats/verbose-json.js';
import { BooleanFromForm, LanguageTag, ListFromForm, OneOf } from './field.decorators.js';
import { TranslationDto } from './translation.dto.js';

const GRANULARITIES = ['word', 'segment'] as const;
const INCLUDABLE = ['logprobs'] as const;

/** Fields of `POST /v1/audio/transcriptions`. Unknown ones are accepted and ignored, as newer clients send them. */
export class TranscriptionDto extends TranslationDto {
  @ApiPropertyOptional({ example: 'en', description: 'BCP-47; refused when the model does not recognise it.' })
  @IsOptional()
  @IsString({ message: 'must be a BCP-47 tag such as en or pt-BR' })
  @LanguageTag()
  language?: string;

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
      'Server-sent events, only with `response_format` json or text. The deltas follow when the answer is known.',
  })
  @BooleanFromForm()
  @IsBoolean({ message: 'must be true or false' })
  stream = false;

  @ApiPropertyOptional({
    name: 'include[]',
    enum: INCLUDABLE,
    isArray: true,
    description: 'Log probabilities per token; refused with `unsupported_parameter` by models that have none.',
  })
  @ListFromForm()
  @IsOptional()
  @OneOf(INCLUDABLE, { each: true })
  include: string[] = [];

  @ApiPropertyOptional({
    type: String,
    example: 'auto',
    description: '`auto`: the server decides where to cut, which it always does. Anything else is refused.',
  })
  @IsOptional()
  chunking_strategy?: unknown;

  @ApiPropertyOptional({
    name: 'known_speaker_names[]',
    isArray: true,
    type: String,
    description: 'Refused: no diarisation.',
  })
  @IsOptional()
  known_speaker_names?: unknown;

  @ApiPropertyOptional({
    name: 'known_speaker_references[]',
    isArray: true,
    type: String,
    description: 'Refused: no diarisation.',
  })
  @IsOptional()
  known_speaker_references?: unknown;
}

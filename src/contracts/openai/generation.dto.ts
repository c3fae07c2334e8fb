import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsDefined, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { isObject } from '../../core/shared/is-object.js';
import { type ServiceTier } from './field-rules.js';
import { Holds, InRange, OptionalNumber, ServiceTierField, WholeNumber } from './field.decorators.js';
import { isTextOrTokens, TEXT_OR_TOKENS } from './text-or-tokens.js';

export const LARGEST_COUNT = 2_147_483_647;

const isStop = (value: unknown): boolean =>
  value === undefined ||
  typeof value === 'string' ||
  (Array.isArray(value) && value.every(item => typeof item === 'string'));

const isAbsentOrObject = (value: unknown): boolean => value === undefined || isObject(value);

/** What every request for generated text says. */
export class TextModelFields {
  @ApiProperty({ example: 'gpt-4o-mini', description: 'A model id or alias; see `GET /v1/models`.' })
  @IsString({ message: 'must be the name of a model' })
  @IsNotEmpty({ message: 'must be the name of a model' })
  model!: string;

  @ServiceTierField(' The answer reports the tier that was used.')
  service_tier: ServiceTier = 'auto';
}

/**
 * Fields that chat and completions share. Unknown ones are accepted and forwarded, because upstream engines may know
 * them. Only fields that mean the same everywhere are validated here.
 */
export class TextGenerationFields extends TextModelFields {
  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Chunks as server-sent events, then `[DONE]`.' })
  @IsBoolean({ message: 'must be true or false' })
  stream = false;

  @ApiPropertyOptional({
    type: 'object',
    properties: { include_usage: { type: 'boolean' } },
    description: 'Only with `stream`. `include_usage`: one more chunk, with the usage, at the end.',
  })
  @Holds(isAbsentOrObject, 'must be an object such as {"include_usage": true}')
  stream_options?: { readonly include_usage?: unknown };

  @ApiPropertyOptional({ type: Number, minimum: 1, maximum: 128, default: 1, description: 'Choices.' })
  @WholeNumber()
  @InRange(1, 128)
  n = 1;

  @OptionalNumber(0, 2)
  temperature?: number;

  @OptionalNumber(0, 1)
  top_p?: number;

  @OptionalNumber(-2, 2)
  presence_penalty?: number;

  @OptionalNumber(-2, 2)
  frequency_penalty?: number;

  @ApiPropertyOptional({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })
  @Holds(isStop, 'must be a text or a list of texts')
  stop?: string | readonly string[];

  @ApiPropertyOptional({ type: Number, description: 'Forwarded digit by digit.' })
  @IsOptional()
  @WholeNumber()
  seed?: number;
}

/** Fields of `POST /v1/chat/completions` that mean something to the gateway; all others pass through. */
export class ChatCompletionDto extends TextGenerationFields {
  @ApiProperty({
    type: 'array',
    items: { type: 'object' },
    example: [{ role: 'user', content: 'What does a switchyard do?' }],
    description: 'At least one message, each with a `role`.',
  })
  @IsArray({ message: 'must be a list of messages' })
  messages!: readonly unknown[];

  @ApiPropertyOptional({ type: Number, minimum: 1, description: 'Most tokens of each choice.' })
  @IsOptional()
  @WholeNumber()
  @InRange(1, LARGEST_COUNT)
  max_completion_tokens?: number;

  @ApiPropertyOptional({ type: Number, minimum: 1, description: 'Older name of `max_completion_tokens`.' })
  @IsOptional()
  @WholeNumber()
  @InRange(1, LARGEST_COUNT)
  max_tokens?: number;

  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Needs a model with that capability.' })
  @IsBoolean({ message: 'must be true or false' })
  logprobs = false;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: 20, description: 'Only with `logprobs`.' })
  @IsOptional()
  @WholeNumber()
  @InRange(0, 20)
  top_logprobs?: number;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object' },
    description: 'Needs a model with that capability; calls of them pass through as they are.',
  })
  @IsOptional()
  @IsArray({ message: 'must be a list of tools' })
  tools?: readonly unknown[];
}

/** Fields of `POST /v1/completions` that mean something to the gateway; all others pass through. */
export class CompletionDto extends TextGenerationFields {
  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'array', items: {} }],
    example: 'A switchyard is',
    description: 'A text, its tokens, or a list of either; at most 2048 of them times `n`.',
  })
  @IsDefined({ message: TEXT_OR_TOKENS })
  @Holds(isTextOrTokens, TEXT_OR_TOKENS)
  prompt!: string | readonly unknown[];

  @ApiPropertyOptional({ type: Number, minimum: 0, description: 'Most tokens of each choice.' })
  @IsOptional()
  @WholeNumber()
  @InRange(0, LARGEST_COUNT)
  max_tokens?: number;

  @ApiPropertyOptional({ type: Number, minimum: 0, description: 'Needs a model with that capability.' })
  @IsOptional()
  @WholeNumber()
  @InRange(0, LARGEST_COUNT)
  logprobs?: number;
}

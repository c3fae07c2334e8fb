import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { Holds, InRange, OneOf, WholeNumber } from './field.decorators.js';
import { SERVICE_TIERS, type ServiceTier } from './service-tier.js';

export const LARGEST_COUNT = 2_147_483_647;

const isStop = (value: unknown): boolean =>
  value === undefined ||
  typeof value === 'string' ||
  (Array.isArray(value) && value.every(item => typeof item === 'string'));

const isObject = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));

/**
 * Fields that chat and completions share. Unknown ones are accepted and handed on: engines behind an upstream know more than we
 * do. Only what has one meaning everywhere is judged here.
 */
export class TextGenerationFields {
  @ApiProperty({ example: 'gpt-4o-mini', description: 'A model id or alias; see `GET /v1/models`.' })
  @IsString({ message: 'must be the name of a model' })
  @IsNotEmpty({ message: 'must be the name of a model' })
  model!: string;

  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Chunks as server-sent events, then `[DONE]`.' })
  @IsBoolean({ message: 'must be true or false' })
  stream = false;

  @ApiPropertyOptional({
    type: 'object',
    properties: { include_usage: { type: 'boolean' } },
    description: 'Only with `stream`. `include_usage`: one more chunk, with the usage, at the end.',
  })
  @Holds(isObject, 'must be an object such as {"include_usage": true}')
  stream_options?: { readonly include_usage?: unknown };

  @ApiPropertyOptional({ type: Number, minimum: 1, maximum: 128, default: 1, description: 'Choices.' })
  @WholeNumber()
  @InRange(1, 128)
  n = 1;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: 2 })
  @IsOptional()
  @InRange(0, 2)
  temperature?: number;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: 1 })
  @IsOptional()
  @InRange(0, 1)
  top_p?: number;

  @ApiPropertyOptional({ type: Number, minimum: -2, maximum: 2 })
  @IsOptional()
  @InRange(-2, 2)
  presence_penalty?: number;

  @ApiPropertyOptional({ type: Number, minimum: -2, maximum: 2 })
  @IsOptional()
  @InRange(-2, 2)
  frequency_penalty?: number;

  @ApiPropertyOptional({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })
  @Holds(isStop, 'must be a text or a list of texts')
  stop?: string | readonly string[];

  @ApiPropertyOptional({ type: Number, description: 'Passed on digit by digit.' })
  @IsOptional()
  @WholeNumber()
  seed?: number;

  @ApiPropertyOptional({
    enum: SERVICE_TIERS,
    default: 'auto',
    description:
      '`priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins. Answers tell the tier really used.',
  })
  @OneOf(SERVICE_TIERS)
  service_tier: ServiceTier = 'auto';
}

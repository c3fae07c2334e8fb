import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { type ServiceTier } from './field-rules.js';
import { Holds, InRange, OneOf, ServiceTierField, WholeNumber } from './field.decorators.js';
import { countInputs, isTextOrTokens, TEXT_OR_TOKENS } from './text-or-tokens.js';

export const EMBEDDING_ENCODINGS = ['float', 'base64'] as const;
export type EmbeddingEncoding = (typeof EMBEDDING_ENCODINGS)[number];

const MOST_INPUTS = 2048;
const LONGEST_VECTOR = 16_384;

const isFew = (value: unknown): boolean => !isTextOrTokens(value) || countInputs(value as string) <= MOST_INPUTS;

/** Fields of `POST /v1/embeddings` that mean something to the gateway; all others pass through. */
export class EmbeddingDto {
  @ApiProperty({ example: 'text-embedding-3-small', description: 'A model id or alias; see `GET /v1/models`.' })
  @IsString({ message: 'must be the name of a model' })
  @IsNotEmpty({ message: 'must be the name of a model' })
  model!: string;

  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'array', items: {}, maxItems: MOST_INPUTS }],
    example: ['The train is on the right track.', 'Every request has a place in the queue.'],
  })
  @IsDefined({ message: TEXT_OR_TOKENS })
  @Holds(isTextOrTokens, TEXT_OR_TOKENS)
  @Holds(isFew, `must hold at most ${MOST_INPUTS} inputs`)
  input!: string | readonly unknown[];

  @ApiPropertyOptional({
    enum: EMBEDDING_ENCODINGS,
    default: 'float',
    description: '`base64`: 32-bit floats, little endian; SDKs ask for it by themselves.',
  })
  @OneOf(EMBEDDING_ENCODINGS)
  encoding_format: EmbeddingEncoding = 'float';

  @ApiPropertyOptional({ type: Number, minimum: 1, description: 'Needs a model with that capability.' })
  @IsOptional()
  @WholeNumber()
  @InRange(1, LONGEST_VECTOR)
  dimensions?: number;

  @ServiceTierField()
  service_tier: ServiceTier = 'auto';
}

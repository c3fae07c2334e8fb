import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { isObject } from '../../core/shared/is-object.js';
import { SERVICE_TIERS, type ServiceTier } from './field-rules.js';
import { Holds, InRange, OneOf, WholeNumber } from './field.decorators.js';

const MOST_DOCUMENTS = 2048;
const DOCUMENTS = `must be a list of 1 to ${MOST_DOCUMENTS} texts, or of objects with a \`text\`, none of them empty`;

/** A document as it may be sent. */
export type RerankDocument = string | { readonly text: string };

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isDocuments = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MOST_DOCUMENTS &&
  value.every(document => isText(document) || (isObject(document) && isText(document.text)));

/** Fields of `POST /v1/rerank`, as Jina, Cohere, vLLM and llama.cpp have it; all others pass through. */
export class RerankDto {
  @ApiProperty({ example: 'bge-reranker-v2-m3', description: 'A model id or alias; see `GET /v1/models`.' })
  @IsString({ message: 'must be the name of a model' })
  @IsNotEmpty({ message: 'must be the name of a model' })
  model!: string;

  @ApiProperty({ example: 'Where do trains change tracks?' })
  @IsString({ message: 'must be text' })
  @IsNotEmpty({ message: 'must be text' })
  query!: string;

  @ApiProperty({
    type: 'array',
    items: {},
    maxItems: MOST_DOCUMENTS,
    example: ['A switchyard sorts cars.', 'Bread is baked at night.'],
    description: 'Texts, or objects with a `text`.',
  })
  @Holds(isDocuments, DOCUMENTS)
  documents!: readonly RerankDocument[];

  @ApiPropertyOptional({ type: Number, minimum: 1, description: 'Most results; default all.' })
  @IsOptional()
  @WholeNumber()
  @InRange(1, 1_000_000)
  top_n?: number;

  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Each result holds its document.' })
  @IsBoolean({ message: 'must be true or false' })
  return_documents = false;

  @ApiPropertyOptional({ enum: SERVICE_TIERS, default: 'auto', description: 'As in embeddings.' })
  @OneOf(SERVICE_TIERS)
  service_tier: ServiceTier = 'auto';
}

export class RerankedDocumentDto {
  @ApiProperty() text!: string;
}

export class RerankResultDto {
  @ApiProperty({ description: 'Place in `documents`, from 0.' }) index!: number;
  @ApiProperty({ example: 0.98, description: 'The higher, the more relevant.' }) relevance_score!: number;
  @ApiPropertyOptional({ type: RerankedDocumentDto }) document?: RerankedDocumentDto;
}

class RerankUsageDto {
  @ApiProperty() prompt_tokens!: number;
  @ApiProperty() total_tokens!: number;
}

export class RerankingDto {
  @ApiProperty({ description: 'Id of the request; as Cohere has it, with `meta`.' }) id!: string;
  @ApiProperty({ example: 'list' }) object!: 'list';
  @ApiProperty({ example: 'bge-reranker-v2-m3' }) model!: string;
  @ApiProperty({ type: [RerankResultDto], description: 'The most relevant first.' })
  results!: readonly RerankResultDto[];
  @ApiProperty({ type: RerankUsageDto }) usage!: RerankUsageDto;
  @ApiProperty({ type: 'object', additionalProperties: true }) meta!: object;
}

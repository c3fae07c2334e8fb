import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { END_USER } from './embedding.dto.js';
import {
  custom,
  filledText,
  trueOrFalse,
  whole,
  advice,
  PASSED_ON,
  type ServiceTier,
} from './field-types.js';
import {
  Field,
  ModelNameField,
  RequiredField,
  ServiceTierField,
  Unlisted,
} from './field.decorators.js';
import { isText } from './text-or-tokens.js';

const MOST_DOCUMENTS = 2048;
const DOCUMENTS = `must be a list of 1 to ${MOST_DOCUMENTS} texts, or of objects with a \`text\`, none of them empty`;

/** A document as it may be sent. */
type RerankDocument = string | { readonly text: string };

const isDocuments = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MOST_DOCUMENTS &&
  value.every(
    document => isText(document) || (isObject(document) && isText(document.text)),
  );

/**
 * Fields of `POST /v1/rerank`, as Jina, Cohere, vLLM and llama.cpp have it; all
 * others pass through.
 */
export class RerankDto {
  @ModelNameField('bge-reranker-v2-m3')
  model!: string;

  @RequiredField(filledText('must be text'), {
    example: 'Where do trains change tracks?',
  })
  query!: string;

  @RequiredField(
    custom(
      { type: 'array', items: {}, maxItems: MOST_DOCUMENTS },
      isDocuments,
      DOCUMENTS,
    ),
    {
      example: ['A switchyard sorts cars.', 'Bread is baked at night.'],
      description: 'Texts, or objects with a `text`.',
    },
  )
  documents!: readonly RerankDocument[];

  @Field(whole(1, 1_000_000), {
    maximum: undefined,
    description: 'Most results; default all.',
  })
  top_n?: number;

  @Field(trueOrFalse(), {
    default: false,
    description: 'Each result holds its document.',
  })
  return_documents = false;

  @Unlisted(END_USER)
  user?: unknown;

  @Unlisted(advice(PASSED_ON, 'Local models refuse a document that is too long.'))
  max_tokens_per_doc?: unknown;

  @ServiceTierField('As in embeddings.')
  service_tier: ServiceTier = 'auto';
}

class RerankedDocumentDto {
  @ApiProperty() text!: string;
}

export class RerankResultDto {
  @ApiProperty({ description: 'Place in `documents`, from 0.' }) index!: number;
  @ApiProperty({ example: 0.98, description: 'The higher, the more relevant.' })
  relevance_score!: number;
  @ApiPropertyOptional({ type: RerankedDocumentDto }) document?: RerankedDocumentDto;
}

class RerankUsageDto {
  @ApiProperty() prompt_tokens!: number;
  @ApiProperty() total_tokens!: number;
}

export class RerankingDto {
  @ApiProperty({ description: 'Id of the request; as Cohere has it, with `meta`.' })
  id!: string;
  @ApiProperty({ example: 'list' }) object!: 'list';
  @ApiProperty({ example: 'bge-reranker-v2-m3' }) model!: string;
  @ApiProperty({ type: [RerankResultDto], description: 'The most relevant first.' })
  results!: readonly RerankResultDto[];
  @ApiProperty({ type: RerankUsageDto }) usage!: RerankUsageDto;
  @ApiProperty({ type: 'object', additionalProperties: true }) meta!: object;
}

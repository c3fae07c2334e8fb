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
  ClassField,
  Field,
  ModelNameField,
  RequiredField,
  ServiceTierField,
  Unlisted,
} from './field.decorators.js';
import { isText } from './text-or-tokens.js';

const MOST_DOCUMENTS = 2048;
const DOCUMENTS = `must be a list of 1 to ${MOST_DOCUMENTS} texts, or of objects with a \`text\`, none of them empty`;

const isDocuments = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MOST_DOCUMENTS &&
  value.every(document => isText(document) || (isObject(document) && isText(document.text)));

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
    custom({ type: 'array', items: {}, maxItems: MOST_DOCUMENTS }, isDocuments, DOCUMENTS),
    {
      example: ['A switchyard sorts cars.', 'Bread is baked at night.'],
      description: 'Texts, or objects with a `text`.',
    },
  )
  documents!: readonly (string | { readonly text: string })[];

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

  @ClassField()
  priority?: unknown;

  @ServiceTierField('As in embeddings.')
  service_tier: ServiceTier = 'auto';
}

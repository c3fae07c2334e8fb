import { RerankDto } from '../../contracts/openai/rerank.dto.js';
import {
  anyField,
  listField,
  numberField,
  objectField,
  optionalField,
  textField,
  answer,
} from '../http/openapi/answer.js';

class RerankedDocumentDto extends answer({ text: String }) {}

class RerankResultDto extends answer({
  index: numberField('Place in `documents`, from 0.'),
  relevance_score: numberField({
    example: 0.98,
    description: 'The higher, the more relevant.',
  }),
  document: optionalField(RerankedDocumentDto),
}) {}

class RerankUsageDto extends answer({ prompt_tokens: Number, total_tokens: Number }) {}

export class RerankingDto extends answer({
  id: textField('Id of the request; as Cohere has it, with `meta`.'),
  object: objectField('list'),
  model: textField({ example: 'bge-reranker-v2-m3' }),
  results: listField(RerankResultDto, 'The most relevant first.'),
  usage: RerankUsageDto,
  meta: anyField<object>({ type: 'object', additionalProperties: true }),
}) {}

/** @param scores 32-bit floats, one per document */
export function ranked(
  { documents, top_n: most, return_documents: withText }: RerankDto,
  scores: Buffer,
): RerankResultDto[] {
  return documents
    .map((document, index) => ({
      index,
      relevance_score: scores.readFloatLE(4 * index),
      ...(withText && {
        document: { text: typeof document === 'string' ? document : document.text },
      }),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, most);
}

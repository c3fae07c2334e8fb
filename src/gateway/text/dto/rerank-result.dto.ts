import { RerankDto } from '../../../contracts/openai/rerank.dto.js';
import { numberField, optionalField, answer } from '../../http/openapi/answer.js';

class RerankedDocumentDto extends answer({ text: String }) {}

export class RerankResultDto extends answer({
  index: numberField('Place in `documents`, from 0.'),
  relevance_score: numberField({
    example: 0.98,
    description: 'The higher, the more relevant.',
  }),
  document: optionalField(RerankedDocumentDto),
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

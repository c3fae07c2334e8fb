import { anyField, listField, objectField, textField, answer } from '../../http/openapi/answer.js';
import { RerankResultDto } from './rerank-result.dto.js';

class RerankUsageDto extends answer({ prompt_tokens: Number, total_tokens: Number }) {}

export class RerankingDto extends answer({
  id: textField('Id of the request; as Cohere has it, with `meta`.'),
  object: objectField('list'),
  model: textField({ example: 'bge-reranker-v2-m3' }),
  results: listField(RerankResultDto, 'The most relevant first.'),
  usage: RerankUsageDto,
  meta: anyField<object>({ type: 'object', additionalProperties: true }),
}) {}

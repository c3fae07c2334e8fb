import { FIELD_RULES } from '../../contracts/openai/field-rules.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { countInputs } from '../../contracts/openai/text-input.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { parseDto } from '../http/dto-validation.js';
import { demandAbilities, demandsOf, demandTask } from '../models/model-abilities.js';
import { type ModelCatalog } from '../models/model-catalog.js';

export interface EmbeddingParams {
  readonly model: ModelSpec;
  readonly dto: EmbeddingDto;
  /** Vectors that are wanted. */
  readonly inputs: number;
}

/** @throws DomainError for the first thing wrong with the body. */
export function toEmbeddingParams(body: Readonly<Record<string, unknown>>, catalog: ModelCatalog): EmbeddingParams {
  const dto = parseDto(EmbeddingDto, body);
  const model = catalog.getOfKind(dto.model, 'embedding');
  demandTask(model, 'embeddings', catalog);
  demandAbilities(model, demandsOf(FIELD_RULES.embeddings, { dimensions: dto.dimensions !== undefined }), catalog);
  return { model, dto, inputs: countInputs(dto.input) };
}

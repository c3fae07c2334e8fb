import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type ClassConstructor } from 'class-transformer';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { parseDto } from '../http/dto-validation.js';
import { demandAbilities, type Strictness } from './model-abilities.js';
import { type ModelCatalog } from './model-catalog.js';

/** A body of a route that names a model. */
export interface ParsedRequest<T> {
  readonly model: ModelSpec;
  readonly dto: T;
  /** Fields that only advise and that this model cannot use. */
  readonly ignored: readonly string[];
}

interface RequestShape<T> {
  readonly type: ClassConstructor<T>;
  readonly kind: ModelSpec['kind'];
  /** What models of that kind differ in. */
  readonly task?: string;
}

/** @returns reads a body; throws DomainError for the first thing wrong with it */
export const requestParser =
  <T extends { readonly model: string }>({ type, kind, task }: RequestShape<T>) =>
  (body: Fields, catalog: ModelCatalog, compat?: Strictness): ParsedRequest<T> => {
    const dto = parseDto(type, body);
    const model = catalog.getOfKind(dto.model, kind, task);
    const ignored = demandAbilities(model, { dto, body }, catalog, compat);
    return { model, dto, ignored };
  };

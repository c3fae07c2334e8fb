import {
  type ArgumentMetadata,
  Injectable,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { bodyFields } from './json-body.js';
import { isStrict, parseDto, parseStrictDto } from './dto-validation.js';

/** What parameters without a DTO are declared as. */
const PLAIN: readonly (Type | undefined)[] = [
  undefined,
  Object,
  String,
  Number,
  Boolean,
  Array,
];

/**
 * Bodies and queries become the DTO that their handler declares. All else passes
 * as it is.
 */
@Injectable()
export class FieldsPipe implements PipeTransform {
  /** @throws DomainError as `parseDto`; `invalid_json` for a body that is no object */
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (
      (type !== 'body' && type !== 'query') ||
      metatype === undefined ||
      PLAIN.includes(metatype)
    )
      return value;
    const dto = metatype as Type<object>;
    return isStrict(dto)
      ? parseStrictDto(dto, bodyFields(value ?? {}))
      : parseDto(dto, bodyFields(value));
  }
}

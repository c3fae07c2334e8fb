import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type ValidationError, validateSync } from 'class-validator';
import {
  fieldNames,
  hasValidFields,
  shaped,
  withReadFields,
} from '../../contracts/openai/field.decorators.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { bodyFields } from './json-body.js';

/** Classes whose unknown fields are refused. */
const STRICT_TYPES = new WeakSet<object>();

/**
 * A DTO whose unknown fields are refused: ignoring a misspelt filter would cancel more
 * requests than intended.
 */
export const Strict = (): ClassDecorator => type => void STRICT_TYPES.add(type);

/** Classes whose fields may be `null` (`NullRemoves`). */
const TYPES_WITH_NULL = new WeakSet<object>();

/** A DTO of changes: null takes a value away, and an absent field leaves it as it is. */
export const NullRemoves = (): ClassDecorator => type => void TYPES_WITH_NULL.add(type);

const SHOWN_CHARACTERS = 80;

/** Makes an unknown field an error, where ignoring it could harm the caller. */
const STRICT = { whitelist: true, forbidNonWhitelisted: true } as const;

/**
 * Fields → DTO. Absent (`undefined`, `null`) fields take the DTO's defaults; unknown
 * ones are ignored.
 * @throws DomainError `missing_required_parameter` or `invalid_value` for the first
 *   invalid field, with its name, the
 *   given value and the allowed ones
 */
export function parseDto<T extends object>(type: new () => T, fields: Fields): T {
  const dto = dtoOf(type, fields);
  return hasValidFields(dto) ? dto : validated(dto, {});
}

/** The same, of a body that is not passed on: what its fields hold is read, too. */
export const readDto = <T extends object>(type: new () => T, fields: Fields): T =>
  withReadFields(parseDto(type, fields));

/** As `parseDto`, and unknown fields are `invalid_value`. */
export function parseStrictDto<T extends object>(type: new () => T, fields: Fields): T {
  refuseUnknown(fields, new Set(fieldNames(type)));
  // Unknown fields of nested DTOs are found by class-validator only.
  return validated(dtoOf(type, fields), STRICT);
}

/** A body may have any number of unknown fields, which are not even looked at. */
function dtoOf<T extends object>(type: new () => T, fields: Fields): T {
  const given: Record<string, unknown> = {};
  const keepsNull = TYPES_WITH_NULL.has(type);
  for (const name of fieldNames(type)) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value !== undefined && (value !== null || keepsNull)) given[name] = value;
  }
  return shaped(type, given);
}

/** @throws DomainError for the first invalid field */
function validated<T extends object>(dto: T, strictness: Partial<typeof STRICT>): T {
  const [first] = validateSync(dto, {
    stopAtFirstError: true,
    forbidUnknownValues: false,
    ...strictness,
  });
  if (first) throw invalidField(first);
  return dto;
}

function refuseUnknown(fields: Fields, known: ReadonlySet<string>): void {
  for (const name in fields) if (!known.has(name)) throw unknownField(name);
}

const unknownField = (name: string): DomainError =>
  new DomainError('invalid_value', `\`${name.slice(0, SHOWN_CHARACTERS)}\` is not known here.`, {
    param: name.slice(0, SHOWN_CHARACTERS),
  });

function invalidField(
  { property, value, constraints, children = [] }: ValidationError,
  path = '',
): DomainError {
  const name = path + property;
  const [inner] = children;
  if (inner) return invalidField(inner, `${name}.`);
  if (constraints?.whitelistValidation !== undefined) return unknownField(name);
  const rule = Object.values(constraints ?? {})[0] ?? 'is not valid';
  const missing = value === undefined || value === '';
  const message = missing
    ? `\`${name}\` is required: it ${rule}.`
    : `\`${name}\` ${rule}; got ${shown(value)}.`;
  return new DomainError(missing ? 'missing_required_parameter' : 'invalid_value', message, {
    param: name,
  });
}

/** The value as JSON; long ones are cut, with their length appended. */
function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : writeJson(value);
  if (text.length <= SHOWN_CHARACTERS) return text;
  const length =
    typeof value === 'string'
      ? `${[...value].length} characters`
      : `${text.length} characters of JSON`;
  return `${text.slice(0, SHOWN_CHARACTERS)}… (${length})`;
}

/** What parameters without a DTO are declared as. */
const PLAIN: readonly unknown[] = [undefined, Object, String, Number, Boolean, Array];

/**
 * Bodies and queries become the DTO that their handler declares. All else passes
 * as it is.
 */
@Injectable()
export class FieldsPipe implements PipeTransform {
  /** @throws DomainError as `parseDto`; `invalid_json` for a body that is no object */
  transform(value: unknown, { type, metatype: dto }: ArgumentMetadata): unknown {
    if ((type !== 'body' && type !== 'query') || !dto || PLAIN.includes(dto)) return value;
    return STRICT_TYPES.has(dto)
      ? parseStrictDto(dto, bodyFields(value ?? {}))
      : parseDto(dto, bodyFields(value));
  }
}

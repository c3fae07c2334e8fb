import { type ClassConstructor } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import { shaped } from '../../contracts/openai/field-shapes.js';
import { DomainError } from '../../core/shared/domain-error.js';

const SHOWN_CHARACTERS = 80;

/** What makes a mistake of an unknown field: where it would be ignored at the caller's peril. */
const STRICT = { whitelist: true, forbidNonWhitelisted: true } as const;

/**
 * Fields → DTO. Absent (`undefined`, `null`) fields take the DTO's defaults; unknown ones are left alone.
 * @throws DomainError `missing_required_parameter` or `invalid_value` for the first bad field, naming it, what was given
 *   and what is allowed.
 */
export function parseDto<T extends object>(type: ClassConstructor<T>, fields: Readonly<Record<string, unknown>>): T {
  return validDto(type, fields, {});
}

/** The same, and unknown fields are `invalid_value`. */
export function parseStrictDto<T extends object>(
  type: ClassConstructor<T>,
  fields: Readonly<Record<string, unknown>>,
): T {
  return validDto(type, fields, STRICT);
}

function validDto<T extends object>(
  type: ClassConstructor<T>,
  fields: Readonly<Record<string, unknown>>,
  strictness: Partial<typeof STRICT>,
): T {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
  const dto = shaped(type, given);
  const [first] = validateSync(dto, { stopAtFirstError: true, forbidUnknownValues: false, ...strictness });
  if (first) throw invalidField(first);
  return dto;
}

function invalidField({ property, value, constraints, children = [] }: ValidationError, path = ''): DomainError {
  const name = path + property;
  const [inner] = children;
  if (inner) return invalidField(inner, `${name}.`);
  if (constraints?.whitelistValidation !== undefined) {
    return new DomainError('invalid_value', `\`${name}\` is not known here.`, { param: name });
  }
  const rule = Object.values(constraints ?? {})[0] ?? 'is not valid';
  const missing = value === undefined || value === '';
  const message = missing ? `\`${name}\` is required: it ${rule}.` : `\`${name}\` ${rule}; got ${shown(value)}.`;
  return new DomainError(missing ? 'missing_required_parameter' : 'invalid_value', message, { param: name });
}

/** The value as JSON; long ones are cut, with their length said. */
function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  if (text.length <= SHOWN_CHARACTERS) return text;
  const length = typeof value === 'string' ? `${[...value].length} characters` : `${text.length} characters of JSON`;
  return `${text.slice(0, SHOWN_CHARACTERS)}… (${length})`;
}

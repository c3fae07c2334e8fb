import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { checkedFields } from '../../contracts/openai/field.decorators.js';
import { type FieldType } from '../../contracts/openai/field-types.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { bodyFields } from './json-body.js';

type DtoClass<T extends object = object> = new () => T;

/** What is declared of a class. */
interface DtoForm {
  /** Of its fields, checked or not. */
  readonly names: readonly string[];
  readonly checked: ReturnType<typeof checkedFields>;
}

/** By class. */
const FORMS = new WeakMap<object, DtoForm>();

function formOf(type: DtoClass): DtoForm {
  const known = FORMS.get(type);
  if (known) return known;
  const checked = checkedFields(type);
  const names = [...new Set([...checked.keys(), ...Object.keys(new type())])];
  const form = { names, checked };
  FORMS.set(type, form);
  return form;
}

/**
 * An instance with these fields; absent ones have its defaults. Values are not copied,
 * except for shaped fields: a copy at any depth and width would be useless work that a
 * caller could make arbitrarily large.
 */
export function shaped<T extends object>(type: DtoClass<T>, fields: Fields): T {
  const instance = new type();
  const { checked } = formOf(type);
  for (const [name, value] of Object.entries(fields)) {
    if (name === '__proto__' || name === 'constructor') continue;
    const field = checked.get(name);
    (instance as Record<string, unknown>)[name] = field
      ? shapedValue(field.type, value)
      : value;
  }
  return instance;
}

function shapedValue({ nested, shape }: FieldType, value: unknown): unknown {
  if (nested) return isObject(value) ? shaped(nested, value) : value;
  return shape ? shape(value) : value;
}

/**
 * The first field that is not valid.
 * @param isStrict unknown fields, also of nested DTOs, are none
 * @param path of the DTO
 */
export function dtoProblem(
  dto: object,
  isStrict = false,
  path = '',
): DomainError | undefined {
  const { checked } = formOf(dto.constructor as DtoClass);
  const names = isStrict ? Object.keys(dto) : [];
  const unknown = names.find(name => !checked.has(name));
  if (unknown !== undefined) return unknownField(path + unknown);
  for (const [name, { type, required }] of checked) {
    const value = (dto as Fields)[name];
    if (!required && isAbsent(type, value)) continue;
    const broken = type.checks.find(([accepts]) => !accepts(value));
    if (broken) return invalidField(path + name, value, broken[1]);
    const inner =
      type.nested && dtoProblem(value as object, isStrict, `${path}${name}.`);
    if (inner) return inner;
  }
  return undefined;
}

const isAbsent = ({ nested }: FieldType, value: unknown): boolean =>
  value === undefined || (value === null && !nested);

/** Most requests come from few programs, each with one set of fields. */
const MOST_FORMS = 64;
/** Characters. Longer forms hold a prompt, which changes from file to file. */
const LONGEST_FORM = 512;

/**
 * `parseDto` with a cache: equal text fields are validated once. Rejections
 * are not cached.
 * @returns the parser; equal forms share the DTO that it returns
 */
export function repeatedForms<T extends object>(
  type: DtoClass<T>,
): (fields: Fields) => Readonly<T> {
  const forms = new Map<string, Readonly<T>>();
  return fields => {
    const key = keyOf(fields);
    const known = key === undefined ? undefined : forms.get(key);
    if (known) return known;
    const dto = Object.freeze(parseDto(type, fields));
    if (key === undefined) return dto;
    if (forms.size === MOST_FORMS) forms.clear();
    forms.set(key, dto);
    return dto;
  };
}

/** Undefined for lists, JSON parts and long forms, which are not cached. */
function keyOf(fields: Fields): string | undefined {
  for (const value of Object.values(fields))
    if (typeof value !== 'string') return undefined;
  const key = JSON.stringify(fields);
  return key.length <= LONGEST_FORM ? key : undefined;
}

/** By class. */
const STRICT_TYPES = new WeakSet<object>();

/**
 * A DTO whose unknown fields are refused: ignoring a misspelt filter would cancel more
 * requests than intended.
 */
export const Strict = (): ClassDecorator => type => void STRICT_TYPES.add(type);

const SHOWN_CHARACTERS = 80;

/**
 * Fields → DTO. Absent (`undefined`, `null`) fields take the DTO's defaults; unknown
 * ones are ignored.
 * @throws DomainError `missing_required_parameter` or `invalid_value` for the first
 *   invalid field, with its name, the
 *   given value and the allowed ones
 */
export function parseDto<T extends object>(type: DtoClass<T>, fields: Fields): T {
  return sound(dtoOf(type, fields), false);
}

/** The same, and unknown fields are `invalid_value`. */
export function parseStrictDto<T extends object>(type: DtoClass<T>, fields: Fields): T {
  refuseUnknown(fields, formOf(type).names);
  return sound(dtoOf(type, fields), true);
}

/** A body may have any number of unknown fields, which are not even looked at. */
function dtoOf<T extends object>(type: DtoClass<T>, fields: Fields): T {
  const given: Record<string, unknown> = {};
  for (const name of formOf(type).names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (value !== undefined && value !== null) given[name] = value;
  }
  return shaped(type, given);
}

/** @throws DomainError for the first invalid field */
function sound<T extends object>(dto: T, isStrict: boolean): T {
  const problem = dtoProblem(dto, isStrict);
  if (problem) throw problem;
  return dto;
}

function refuseUnknown(fields: Fields, known: readonly string[]): void {
  for (const name in fields) if (!known.includes(name)) throw unknownField(name);
}

const unknownField = (name: string): DomainError =>
  new DomainError(
    'invalid_value',
    `\`${name.slice(0, SHOWN_CHARACTERS)}\` is not known here.`,
    {
      param: name.slice(0, SHOWN_CHARACTERS),
    },
  );

function invalidField(name: string, value: unknown, rule: string): DomainError {
  const isMissing = value === undefined || value === '';
  const message = isMissing
    ? `\`${name}\` is required: it ${rule}.`
    : `\`${name}\` ${rule}; got ${shown(value)}.`;
  return new DomainError(
    isMissing ? 'missing_required_parameter' : 'invalid_value',
    message,
    { param: name },
  );
}

/** The value as JSON; long ones are cut, with their length appended. */
function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
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
    if ((type !== 'body' && type !== 'query') || !dto || PLAIN.includes(dto))
      return value;
    return STRICT_TYPES.has(dto)
      ? parseStrictDto(dto, bodyFields(value ?? {}))
      : parseDto(dto, bodyFields(value));
  }
}

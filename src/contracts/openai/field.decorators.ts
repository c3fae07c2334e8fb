import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { wantedLanguage } from '../formats/language-name.js';
import { isObject } from '../../core/shared/is-object.js';
import { SERVICE_TIERS } from './field-rules.js';

type Shape = (value: unknown) => unknown;

/** By prototype of the class that has the field. */
const SHAPES = new WeakMap<object, Map<string, Shape>>();

/**
 * Converts the value of a field before it is validated.
 * @param shape receives any value; returns unknown ones unchanged
 */
export const Shaped =
  (shape: Shape): PropertyDecorator =>
  (target, key) => {
    const shapes = SHAPES.get(target) ?? new Map<string, Shape>();
    SHAPES.set(target, shapes.set(String(key), shape));
  };

/**
 * An instance with these fields; absent ones have its defaults. Values are not copied, except for shaped fields: a copy
 * at any depth and width would be useless work that a caller could make arbitrarily large.
 */
export function shaped<T extends object>(type: new () => T, fields: Readonly<Record<string, unknown>>): T {
  const instance = new type();
  for (const [name, value] of Object.entries(fields)) {
    if (name === '__proto__' || name === 'constructor') continue;
    const shape = shapeOf(instance, name);
    (instance as Record<string, unknown>)[name] = shape ? shape(value) : value;
  }
  return instance;
}

/** Of the class or of one it extends. */
function shapeOf(instance: object, name: string): Shape | undefined {
  let prototype = Object.getPrototypeOf(instance) as object | null;
  while (prototype !== null) {
    const shape = SHAPES.get(prototype)?.get(name);
    if (shape) return shape;
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return undefined;
}

/**
 * Validators whose messages say only what is allowed ("must be a number from 0 to 1"): the field's name and the value
 * given are put around them in one place, so no error forgets either.
 */
export const InRange =
  (min: number, max: number): PropertyDecorator =>
  (target, key) => {
    const options: ValidationOptions = { message: `must be a number from ${min} to ${max}` };
    Min(min, options)(target, key);
    Max(max, options)(target, key);
  };

export const WholeNumber = (): PropertyDecorator => IsInt({ message: 'must be a whole number' });

/** A rule of its own, with what is allowed in words. */
export const Holds = (validate: (value: unknown) => boolean, message: string): PropertyDecorator =>
  ValidateBy({ name: 'holds', validator: { validate } }, { message });

/** An object of its own fields, which may be left out. @param shape such as {anchor, seconds} */
export const OptionalObject =
  (type: () => new () => object, shape: string): PropertyDecorator =>
  (target, key) => {
    IsOptional()(target, key);
    ValidateNested({ message: `must be ${shape}` })(target, key);
    IsObject({ message: `must be ${shape}` })(target, key);
    Shaped(value => (isObject(value) ? shaped(type(), value) : value))(target, key);
  };

export const OneOf = (values: readonly string[], options: ValidationOptions = {}): PropertyDecorator =>
  IsIn([...values], { ...options, message: `must be one of ${values.join(', ')}` });

export const LengthUpTo = (max: number): PropertyDecorator =>
  MaxLength(max, { message: `must be text of at most ${max} characters` });

export const LanguageTag = (options: ValidationOptions = {}): PropertyDecorator =>
  Matches(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, { ...options, message: 'must be a BCP-47 tag such as en or pt-BR' });

/** `auto` is absent; an English name of a language is its tag. */
export const LanguageFromForm = (): PropertyDecorator =>
  Shaped(value => (typeof value === 'string' ? wantedLanguage(value) : value));

/** Decimal. An exponent is for small fractions only, which Python writes that way; `1e3` is no count. */
const NUMBER = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e-\d+)?\s*$/i;

/** Multipart carries text only: `"0.2"` → 0.2. What is no number stays text, so that the validator refuses it. */
export const NumberFromForm = (): PropertyDecorator =>
  Shaped(value => (typeof value === 'string' && NUMBER.test(value) ? Number(value) : value));

export const BooleanFromForm = (): PropertyDecorator =>
  Shaped(value => {
    if (value === 'true' || value === '1') return true;
    return value === 'false' || value === '0' ? false : value;
  });

/** A field that may be repeated and was given once. */
export const ListFromForm = (): PropertyDecorator =>
  Shaped((value): unknown => (Array.isArray(value) ? value : [value]));

/** A list given as repeated fields, as comma-separated text, or both; trimmed, without empty and duplicate entries. */
export const CommaListFromForm = (): PropertyDecorator =>
  Shaped(value => {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!given.every(entry => typeof entry === 'string')) return value;
    const entries = given.flatMap(entry => entry.split(',')).map(entry => entry.trim());
    return [...new Set(entries.filter(entry => entry !== ''))];
  });

/** A list of at most `count` texts of at most `length` characters. */
export const TextList =
  (count: number, length: number): PropertyDecorator =>
  (target, key) => {
    IsArray({ message: 'must be a list' })(target, key);
    ArrayMaxSize(count, { message: `must have at most ${count} entries` })(target, key);
    IsString({ each: true, message: 'must be a list of texts' })(target, key);
    MaxLength(length, { each: true, message: `must have entries of at most ${length} characters` })(target, key);
  };

/** `service_tier` of every request that queues work. @param more of its description */
export function ServiceTierField(more = ''): PropertyDecorator {
  const tiers = '`priority` and `fast` are queued as REALTIME, the rest as BATCH.';
  const description = `${tiers} The \`X-Priority\` header wins over it.${more}`;
  const decorators = [ApiPropertyOptional({ enum: SERVICE_TIERS, default: 'auto', description }), OneOf(SERVICE_TIERS)];
  return (target, key) => decorators.forEach(decorate => decorate(target, key));
}

/** A number that may be left out. */
export const OptionalNumber =
  (minimum: number, maximum: number): PropertyDecorator =>
  (target, key) => {
    ApiPropertyOptional({ type: Number, minimum, maximum })(target, key);
    IsOptional()(target, key);
    InRange(minimum, maximum)(target, key);
  };

/** `limit` of a list: the entries of one page. */
export const PageLimit =
  (maximum: number, usual: number): PropertyDecorator =>
  (target, key) => {
    IsOptional()(target, key);
    NumberFromForm()(target, key);
    WholeNumber()(target, key);
    InRange(1, maximum)(target, key);
    ApiPropertyOptional({ minimum: 1, maximum, default: usual })(target, key);
  };

/** `after` of a list. @param entry what the list holds, in the singular */
export const PageAfter =
  (entry: string): PropertyDecorator =>
  (target, key) => {
    IsOptional()(target, key);
    IsString({ message: 'must be the id of an entry' })(target, key);
    ApiPropertyOptional({ description: `Id of the last ${entry} of the page before.` })(target, key);
  };

/** `order` of a list, by time. */
export const PageOrder = (): PropertyDecorator => (target, key) => {
  IsOptional()(target, key);
  OneOf(['asc', 'desc'])(target, key);
  ApiPropertyOptional({ enum: ['asc', 'desc'], default: 'desc' })(target, key);
};

/** `metadata` within OpenAI's bounds; whether it must be given is another rule. */
export const Labels = (): PropertyDecorator =>
  Holds(areLabels, 'must map at most 16 keys of at most 64 characters to texts of at most 512');

function areLabels(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= 16 &&
    entries.every(([name, label]) => name.length <= 64 && typeof label === 'string' && label.length <= 512)
  );
}

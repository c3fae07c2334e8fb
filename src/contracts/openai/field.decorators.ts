import { ApiProperty } from '@nestjs/swagger';
import { readObject } from '@switchyard/engine-api/field-problems.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { ValidateBy, ValidateNested, type ValidationArguments } from 'class-validator';
import {
  choiceOf,
  type FieldType,
  filledText,
  fromForm,
  anyText,
  anything,
  whole,
  type FieldRule,
  type FieldRules,
  honoured,
  SERVICE_TIERS,
} from './field-types.js';

/** What OpenAPI says of a field beside its type, and what happens to it. */
interface FieldOptions {
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  /** Name of the field in OpenAPI (default: the name of the property). */
  readonly name?: string;
  /** Default: `honoured`. */
  readonly rule?: FieldRule;
  /** Other keywords of OpenAPI, which override those of the type. */
  readonly [word: string]: unknown;
}

interface Demand extends Pick<FieldType, 'shape'> {
  readonly type: FieldType;
  readonly required: boolean;
}

/** The fields of one class, after those of the class that it extends. */
interface DeclaredFields {
  /** Types of the fields, by the names of their properties. */
  readonly demands: Map<string, Demand>;
  readonly rules: Map<string, FieldRule>;
}

/** The declared fields of each class, by its prototype. */
const DECLARED = new WeakMap<object, DeclaredFields>();

function declaredOn(prototype: object): DeclaredFields {
  const known = DECLARED.get(prototype);
  if (known) return known;
  const extended = Object.getPrototypeOf(prototype) as object | null;
  const inherited = extended && declaredOn(extended);
  const declared = { demands: new Map(inherited?.demands), rules: new Map(inherited?.rules) };
  DECLARED.set(prototype, declared);
  return declared;
}

/**
 * A field of a request, described once: its check, its text in OpenAPI, and what
 * happens to it. It may be left out: then it is undefined, or has the value that the
 * class gives it.
 */
export const Field = (type: FieldType, options: FieldOptions = {}): PropertyDecorator =>
  described(type, options, false);

/** Declares a field that requests must have. */
export const RequiredField = (type: FieldType, options: FieldOptions = {}): PropertyDecorator =>
  described(type, options, true);

function described(type: FieldType, options: FieldOptions, required: boolean): PropertyDecorator {
  const { rule = honoured(), ...words } = options;
  return (target, key) => {
    ApiProperty({ ...type.schema, required, ...words })(target, key);
    Unlisted(rule)(target, key);
    const { nested, shape = nested && shapeOfNested(nested) } = type;
    const demand = { type, required, shape };
    declaredOn(target).demands.set(String(key), demand);
    if (type.checks.length > 0) checked(demand)(target, key);
    if (nested) ValidateNested({ message: type.checks[0]![1] })(target, key);
  };
}

/** A field that OpenAPI does not list and nothing here checks. */
export const Unlisted =
  (rule: FieldRule): PropertyDecorator =>
  (target, key) =>
    void declaredOn(target).rules.set(String(key), rule);

/** Declares fields that have no property in the class: they reach the engine with the body. */
export const PassesOn =
  (rules: FieldRules): ClassDecorator =>
  type => {
    for (const [name, rule] of Object.entries(rules))
      declaredOn(type.prototype as object).rules.set(name, rule);
  };

/** One constraint of class-validator, which says what the first broken check says. */
const checked = (demand: Demand): PropertyDecorator =>
  ValidateBy({
    name: 'field',
    validator: {
      validate: (value: unknown) => isMet(demand, value),
      defaultMessage: ({ value }: ValidationArguments) =>
        demand.type.checks.find(([accepts]) => !accepts(value))![1],
    },
  });

function isMet({ type, required }: Demand, value: unknown): boolean {
  if (!required && (value === undefined || value === null)) return true;
  for (const [accepts] of type.checks) if (!accepts(value)) return false;
  return true;
}

/** The fields of a class, and of those that it extends. */
export const fieldNames = (type: NewableFunction): Iterable<string> =>
  declaredOn(type.prototype as object).demands.keys();

const demandsOn = (dto: object) => declaredOn(Object.getPrototypeOf(dto) as object).demands;

/**
 * Whether each field of a DTO is as declared. class-validator, which costs more than the
 * checks themselves, is needed only to name what is wrong.
 */
export function hasValidFields(dto: object): boolean {
  for (const [name, demand] of demandsOn(dto)) {
    const value = (dto as Record<string, unknown>)[name];
    if (!isMet(demand, value)) return false;
    if (!demand.type.nested || value === undefined) continue;
    if (!(value instanceof Object) || !hasValidFields(value)) return false;
  }
  return true;
}

/**
 * A DTO whose fields are as declared, with what they hold as their readers read it.
 * @throws DomainError for the first thing wrong with it
 */
export function withReadFields<T extends object>(dto: T): T {
  const fields = dto as Record<string, unknown>;
  for (const [name, { type }] of demandsOn(dto))
    if (type.reader) fields[name] = readObject(type.reader, fields[name], name);
  return dto;
}

const shapeOfNested = (type: new () => object) => (value: unknown) =>
  isObject(value) ? shaped(type, value) : value;

/** What happens to each field of a class, those of the class that it extends first. */
export const rulesOf = (...types: readonly NewableFunction[]): FieldRules =>
  Object.fromEntries(types.flatMap(type => [...declaredOn(type.prototype as object).rules]));

/**
 * An instance with these fields; absent ones have its defaults. Values are not copied,
 * except for shaped fields: a copy at any depth and width would be useless work that a
 * caller could make arbitrarily large.
 */
export function shaped<T extends object>(type: new () => T, fields: Fields): T {
  const instance = new type();
  const demands = demandsOn(instance);
  for (const [name, value] of Object.entries(fields)) {
    if (name === '__proto__' || name === 'constructor') continue;
    const shape = demands.get(name)?.shape;
    (instance as Record<string, unknown>)[name] = shape ? shape(value) : value;
  }
  return instance;
}

/** `model` of every request. */
export const ModelNameField = (
  example: string,
  description = 'A model id or alias; see `GET /v1/models`.',
) => RequiredField(filledText('must be the name of a model'), { example, description });

export const TIERS =
  '`priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it.';

/** `service_tier` of every request that queues work. */
export const ServiceTierField = (description = TIERS): PropertyDecorator =>
  Field(choiceOf(SERVICE_TIERS), {
    default: 'auto',
    description,
    rule: honoured('Priority; the `X-Priority` header wins.'),
  });

const CLASS =
  '`realtime` or `batch`, as in the `X-Priority` header, which wins. Values of other servers are ignored, and passed on to none.';

/** `priority` of every request for text. */
export const ClassField = (): PropertyDecorator =>
  Field(anything({ enum: ['realtime', 'batch'] }), {
    description: CLASS,
    rule: honoured(CLASS),
  });

/** `limit` of a list: the entries of one page. */
export const PageLimit = (maximum: number, usual: number): PropertyDecorator => {
  const { checks, ...type } = fromForm(whole(1, maximum));
  return Field({ ...type, checks: [...checks].reverse() }, { type: undefined, default: usual });
};

/** `after` of a list. @param entry what the list holds, in the singular */
export const PageAfter = (entry: string): PropertyDecorator =>
  Field(anyText('must be the id of an entry'), {
    description: `Id of the last ${entry} of the page before.`,
  });

/** `order` of a list, by time. */
export const PageOrder = (): PropertyDecorator =>
  Field(choiceOf(['asc', 'desc']), { default: 'desc' });

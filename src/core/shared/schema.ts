import { didYouMean } from './nearest-name.js';

/**
 * What one field of an untrusted object may hold. One rule gives the check, the error message and the documentation:
 * settings, models, keys, targets, worker specs, engine options, realtime events and queue jobs are read by these
 * rules.
 */
export interface ValueRule {
  /** Allowed values as a noun phrase: `a number from 0 to 2`. */
  readonly allowed: string;
  readonly accepts: (value: unknown) => boolean;
  /** Absent fields are allowed (default: false). */
  readonly optional?: boolean;
  /** Known words; the message names the one nearest to a wrong value. */
  readonly choices?: readonly string[];
  /** Words of earlier releases, each with what to write instead. */
  readonly removed?: Readonly<Record<string, string>>;
  /** Lists: rule of one item, so that a problem names the item. */
  readonly item?: ValueRule;
  /** Objects: rules of the fields, so that a problem names the field. */
  readonly fields?: ObjectRules;
  /** The same for editors, as JSON Schema (draft 7); absent: they do not check it. */
  readonly schema?: JsonSchema;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export type ObjectRules = Readonly<Record<string, ValueRule>>;

/** One thing wrong with an untrusted object. */
export interface FieldProblem {
  /** Field, then what is inside it: `['options', 'threads']`, `['capabilities', 2]`. Empty: the object itself. */
  readonly path: readonly (string | number)[];
  readonly value?: unknown;
  readonly message: string;
  /** The field's name is wrong, not its value. */
  readonly unknown?: boolean;
}

export const optional = <R extends ValueRule>(rule: R): R & { readonly optional: true } => ({
  ...rule,
  optional: true,
});

export const TEXT: ValueRule = {
  allowed: 'text, not empty',
  accepts: value => typeof value === 'string' && value !== '',
  schema: { type: 'string', minLength: 1 },
};

export const ANYTHING: ValueRule = { allowed: 'any value', accepts: () => true };

export const FLAG: ValueRule = {
  allowed: 'true or false',
  accepts: value => typeof value === 'boolean',
  schema: { type: 'boolean' },
};

/** @param unit such as `ms` */
export const numberFrom = (min: number, max: number, unit = ''): ValueRule => ({
  allowed: `a number from ${min} to ${max}${unit && ` ${unit}`}`,
  accepts: value => typeof value === 'number' && value >= min && value <= max,
  schema: { type: 'number', minimum: min, maximum: max },
});

/** @param unit such as `ms` */
export const wholeNumberFrom = (min: number, max: number, unit = ''): ValueRule => ({
  allowed: `a whole number from ${min} to ${max}${unit && ` ${unit}`}`,
  accepts: value => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
  schema: { type: 'integer', minimum: min, maximum: max },
});

/** Text of a form that `allowed` describes. */
export const matching = (pattern: RegExp, allowed: string): ValueRule => ({
  allowed,
  accepts: value => typeof value === 'string' && pattern.test(value),
  // JSON Schema has no flags.
  schema: { type: 'string', ...(!pattern.ignoreCase && { pattern: pattern.source }) },
});

export const oneOf = (choices: readonly (string | number)[]): ValueRule => ({
  allowed: `one of ${choices.join(', ')}`,
  accepts: value => choices.some(known => known === value),
  choices: choices.map(String),
  schema: { enum: choices },
});

/** @param items what the items are, in the plural */
export const listOf = (item: ValueRule, items: string, least = 0): ValueRule => ({
  allowed: `a list of ${least > 0 ? `${least} or more ` : ''}${items}`,
  accepts: value => Array.isArray(value) && value.length >= least && value.every(item.accepts),
  item,
  ...(item.choices && { choices: item.choices }),
  schema: { type: 'array', items: item.schema ?? {}, ...(least > 0 && { minItems: least }) },
});

/** An object whose names are not fixed. */
export const mapOf = (item: ValueRule, allowed: string, name: ValueRule = TEXT): ValueRule => ({
  allowed,
  accepts: value =>
    isObject(value) && Object.entries(value).every(([key, one]) => name.accepts(key) && item.accepts(one)),
  schema: { type: 'object', additionalProperties: item.schema ?? {}, propertyNames: name.schema ?? {} },
});

export const objectOf = (fields: ObjectRules, allowed: string): ValueRule => ({
  allowed,
  accepts: value => isObject(value) && fieldProblems(value, fields).length === 0,
  fields,
  schema: objectSchema(fields),
});

/** @param describe what an editor shows of a field */
export function objectSchema(
  fields: ObjectRules,
  describe: (name: string, rule: ValueRule) => string = (_, { allowed }) => allowed,
): JsonSchema {
  const entries = Object.entries(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, rule]) => [name, { description: describe(name, rule), ...rule.schema }]),
    ),
    required: entries.filter(([, rule]) => !rule.optional).map(([name]) => name),
    additionalProperties: false,
  };
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** All problems of an untrusted object: unknown names, missing fields, wrong values. `null` counts as absent. */
export function fieldProblems(object: Readonly<Record<string, unknown>>, rules: ObjectRules): FieldProblem[] {
  const unknown = Object.keys(object).filter(name => !Object.hasOwn(rules, name));
  return [
    ...unknown.map(name => {
      const near = didYouMean(name, Object.keys(rules)) || `; known: ${Object.keys(rules).join(', ')}`;
      return { path: [name], message: `no such field${near}`, unknown: true };
    }),
    ...Object.entries(rules).flatMap(([name, rule]) => {
      const value = Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
      if (value !== undefined) return valueProblems(value, rule, [name]);
      return rule.optional ? [] : [{ path: [name], message: `is missing; must be ${rule.allowed}` }];
    }),
  ];
}

/** Problems of one value, at the deepest place that a rule knows. */
export function valueProblems(value: unknown, rule: ValueRule, path: FieldProblem['path'] = []): FieldProblem[] {
  if (rule.accepts(value)) return [];
  const inside = insideProblems(value, rule, path);
  if (inside.length > 0) return inside;
  const word = typeof value === 'string' ? value : '';
  const instead = rule.removed?.[word];
  const message = instead ?? `must be ${rule.allowed}${didYouMean(word, rule.choices ?? [])}`;
  return [{ path, value, message }];
}

function insideProblems(value: unknown, { item, fields }: ValueRule, path: FieldProblem['path']): FieldProblem[] {
  if (item && Array.isArray(value)) return value.flatMap((one, index) => valueProblems(one, item, [...path, index]));
  if (!fields || !isObject(value)) return [];
  return fieldProblems(value, fields).map(problem => ({ ...problem, path: [...path, ...problem.path] }));
}

/** `models[0].options.threads` */
export const pathText = (path: FieldProblem['path'], prefix = ''): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? key : `${text}.${key}`;
  }, prefix);

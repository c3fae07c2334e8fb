import { exactAt, jsonAt, writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { refused } from './grammar-error.js';
import {
  isSchemaObject,
  namesAt,
  objectAt,
  type Schema,
  shown,
  valueList,
} from './schema-fields.js';
import { isAnnotation } from './schema-keywords.js';

type Join = (one: unknown, other: unknown, path: string) => unknown;

const both: Join = (one, other) => (one === other ? one : { allOf: [one, other] });
const least: Join = (one, other, path) => Math.min(numberOf(one, path), numberOf(other, path));
const most: Join = (one, other, path) => Math.max(numberOf(one, path), numberOf(other, path));

const refuseBoth: Join = (one, other, path) => {
  throw refused(path, `${shown(one)} and ${shown(other)} have no value in common`);
};

/** By keyword, how two values of it become one value that demands both. */
const JOINS: Readonly<Record<string, Join>> = {
  type: (one, other, path) => {
    const [first, second] = [typesOf(one), typesOf(other)];
    const shared = [
      ...first.filter(type => within(type, second)),
      ...second.filter(type => within(type, first)),
    ];
    return shared.length > 0 ? [...new Set(shared)] : refuseBoth(one, other, path);
  },
  enum: (one, other, path) => {
    const known = new Set(valueList(one, path).map(value => writeJson(value)));
    const shared = valueList(other, path).filter(value => known.has(writeJson(value)));
    return shared.length > 0 ? shared : refuseBoth(one, other, path);
  },
  $defs: one => one,
  definitions: one => one,
  required: (one, other, path) => [
    ...new Set([
      ...namesAt({ required: one }, 'required', path),
      ...namesAt({ required: other }, 'required', path),
    ]),
  ],
  minimum: most,
  exclusiveMinimum: most,
  maximum: least,
  exclusiveMaximum: least,
  minLength: most,
  minItems: most,
  minProperties: most,
  maxLength: least,
  maxItems: least,
  maxProperties: least,
  pattern: (one, other) => new Set([...patternsOf(one), ...patternsOf(other)]),
  nullable: (one, other) => one === true && other === true,
  uniqueItems: (one, other) => one === true || other === true,
  items: both,
  propertyNames: both,
};

/** @throws GrammarError at a keyword whose two values cannot be merged */
export function mergedSchemas(one: Schema, other: Schema, path: string): Schema {
  if (one === other) return one;
  const constant = exactAt('const' in one ? one : other, 'const', JSON.rawJSON);
  const merged: Record<string, unknown> = { ...other, ...one };
  if (constant !== undefined) merged.const = constant;
  for (const keyword of Object.keys(other))
    if (differ(one, other, keyword)) merged[keyword] = joined(one, other, keyword, path);
  return { ...merged, ...mergedMembers(one, other, path) };
}

/** Whether both say something of a keyword that narrows a value, and not the same. */
function differ(one: Schema, other: Schema, keyword: string): boolean {
  const [own, value] = [one[keyword], other[keyword]];
  if (own === undefined || own === value) return false;
  if (isAnnotation(keyword) || OBJECT_KEYWORDS.has(keyword)) return false;
  return keyword !== 'const' || jsonAt(one, keyword) !== jsonAt(other, keyword);
}

/**
 * The value of a keyword that demands what both schemas demand.
 * @throws GrammarError when no value does
 */
function joined(one: Schema, other: Schema, keyword: string, path: string): unknown {
  const [own, value] = [one[keyword], other[keyword]];
  const [at, join] = [`${path}.${keyword}`, JOINS[keyword]];
  if (join) return join(own, value, at);
  throw refused(at, `${shown(own)} and ${shown(value)} cannot be held together`);
}

/** One, or a set of those that hold together: no caller can write a set in JSON. */
export const patternsOf = (value: unknown): readonly unknown[] =>
  value instanceof Set ? [...value] : [value];

const OBJECT_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'additionalProperties',
  'unevaluatedProperties',
]);

/**
 * A property that one of them does not name is judged by that one's
 * `additionalProperties`.
 */
function mergedMembers(one: Schema, other: Schema, path: string): Schema {
  const [first, second] = [one, other].map(schema => objectAt(schema, 'properties', path)) as [
    Schema,
    Schema,
  ];
  // What `one` leaves unevaluated is known only when all is merged.
  const [firstRest, secondRest] = [
    restOf(one.additionalProperties),
    restOf(other.additionalProperties ?? other.unevaluatedProperties),
  ];
  const properties = Object.keys({ ...first, ...second }).flatMap(name => {
    const judged = [ownOr(first, name, firstRest), ownOr(second, name, secondRest)].filter(
      schema => schema !== undefined,
    );
    const [own, also = own] = judged;
    return judged.includes(false) ? [] : [[name, both(own, also, path)] as const];
  });
  const rests = [firstRest, secondRest].filter(rest => rest !== undefined);
  const rest = rests.includes(false) ? false : both(rests[0], rests.at(-1), path);
  return {
    ...((one.properties ?? other.properties) !== undefined && {
      properties: Object.fromEntries(properties),
    }),
    ...(rest !== undefined && { additionalProperties: rest }),
  };
}

const ownOr = (properties: Schema, name: string, rest: unknown): unknown =>
  Object.hasOwn(properties, name) ? properties[name] : rest;

/** Undefined when any value is allowed. */
const restOf = (rest: unknown): unknown =>
  rest === true || (isSchemaObject(rest) && Object.keys(rest).length === 0) ? undefined : rest;

const typesOf = (type: unknown): readonly unknown[] => (Array.isArray(type) ? type : [type]);
const within = (type: unknown, types: readonly unknown[]): boolean =>
  types.includes(type) || (type === 'integer' && types.includes('number'));

function numberOf(value: unknown, path: string): number {
  if (typeof value === 'number') return value;
  throw refused(path, `must be a number; got ${shown(value)}`);
}

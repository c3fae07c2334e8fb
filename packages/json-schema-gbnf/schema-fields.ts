import { withDigits, writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { refused } from './grammar-error.js';

export type Schema = Readonly<Record<string, unknown>>;

const MOST_COUNT = 10_000;
/**
 * Values, alternatives, properties: what could come next is tried one by one
 * at each token.
 */
const MOST_MEMBERS = 1000;

export interface Bounds {
  readonly least: number;
  /** Infinity: no bound. */
  readonly most: number;
}

/** A keyword that holds an object, such as `properties`; absent: an empty one. */
export function objectAt(schema: Schema, name: string, path: string): Schema {
  const value = schema[name] ?? {};
  if (!isSchemaObject(value) || schema[name] === null)
    throw refused(`${path}.${name}`, `must be an object; got ${shown(schema[name])}`);
  const count = Object.keys(value).length;
  if (count > MOST_MEMBERS)
    throw refused(`${path}.${name}`, `has ${count} members; at most ${MOST_MEMBERS}`);
  return value;
}

export function namesAt(schema: Schema, name: string, path: string): readonly string[] {
  const value = schema[name];
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every(one => typeof one === 'string')) return value;
  throw refused(`${path}.${name}`, `must be a list of names; got ${shown(value)}`);
}

/** Values that an answer may be; numbers as JSON that is written as it came. */
export const valueList = (value: unknown, path: string): readonly unknown[] =>
  withDigits(schemaList(value, path), JSON.rawJSON) as readonly unknown[];

export function schemaList(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0)
    throw refused(path, `must be a list of at least one; got ${shown(value)}`);
  if (value.length > MOST_MEMBERS)
    throw refused(path, `has ${value.length} members; at most ${MOST_MEMBERS}`);
  return value;
}

/** Two keywords that bound a count. */
export function boundsOf(
  schema: Schema,
  [low, high]: readonly [string, string],
  path: string,
): Bounds {
  const least = countAt(schema, low, path) ?? 0;
  const most = countAt(schema, high, path) ?? Infinity;
  if (most >= least) return { least, most };
  throw refused(
    `${path}.${high}`,
    `is ${most}, less than \`${low}\`, which is ${least}: nothing could be written`,
  );
}

function countAt(schema: Schema, name: string, path: string): number | undefined {
  const value = schema[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MOST_COUNT)
    return value;
  throw refused(
    `${path}.${name}`,
    `must be a whole number from 0 to ${MOST_COUNT}; got ${shown(value)}`,
  );
}

export const isSchemaObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const shown = (value: unknown): string => (writeJson(value) ?? 'nothing').slice(0, 80);

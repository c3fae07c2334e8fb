import { type z } from 'zod';
import { didYouMean } from '@switchyard/engine-api/nearest-name.js';

export type FieldPath = readonly (string | number)[];

/** One thing wrong with an untrusted object. */
export interface FieldProblem {
  /**
   * Field, then what is inside it: `['options', 'threads']`, `['capabilities', 2]`.
   * Empty: the object itself.
   */
  readonly path: FieldPath;
  readonly value?: unknown;
  readonly message: string;
  /** The field's name is wrong, not its value. */
  readonly unknown?: boolean;
}

/**
 * What an untrusted object holds; or all its problems, each at the deepest place that
 * the schema knows.
 */
export function readFields<S extends z.ZodType>(
  schema: S,
  value: unknown,
): { readonly data?: z.output<S>; readonly problems: FieldProblem[] } {
  const { data, error } = schema.safeParse(value);
  if (!error) return { data, problems: [] };
  const issues = error.issues.flatMap(insideUnion);
  const deepest = issues.filter(
    (issue, index) =>
      !isRule(issue) ||
      !issues.some(
        (other, at) =>
          startsWith(other.path, issue.path) &&
          (at < index || other.path.length > issue.path.length),
      ),
  );
  return { problems: deepest.flatMap(issue => problemsOf(issue, value)).sort(byName) };
}

/**
 * What is wrong inside a value that may have several forms, or that it has none of them.
 */
function insideUnion(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  const inside =
    issue.code === 'invalid_union'
      ? issue.errors.flat().filter(({ path }) => path.length > 0)
      : [];
  if (inside.length === 0) return [issue];
  return inside.map(one => ({ ...one, path: [...issue.path, ...one.path] }));
}

const startsWith = (path: readonly unknown[], start: readonly unknown[]): boolean =>
  start.every((key, depth) => path[depth] === key);

/** Of a single value; others say what several fields are to each other. */
const isRule = ({ code, message }: z.core.$ZodIssue): boolean =>
  code === 'custom' ? message.startsWith('must be ') : code !== 'unrecognized_keys';

function problemsOf(issue: z.core.$ZodIssue, object: unknown): FieldProblem[] {
  const path = issue.path as FieldPath;
  const { message } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(name => unknownName(path, name, message));
  if (!isRule(issue)) return [{ path, message }];
  const value = valueAt(object, path);
  if (value == null && typeof path.at(-1) === 'string')
    return [{ path, message: `is missing; ${message}` }];
  const choices =
    issue.code === 'invalid_value' && message.startsWith('must')
      ? issue.values.map(String)
      : [];
  return [
    {
      path,
      value,
      message: message + didYouMean(typeof value === 'string' ? value : '', choices),
    },
  ];
}

function unknownName(path: FieldPath, name: string, known: string): FieldProblem {
  const near = didYouMean(name, known.split(', ')) || `; known: ${known}`;
  return { path: [...path, name], message: `no such field${near}`, unknown: true };
}

export const valueAt = (object: unknown, path: FieldPath): unknown =>
  path.reduce(
    (value, key) =>
      (value as Readonly<Record<string, unknown>> | null | undefined)?.[key],
    object,
  );

/** A misspelt name comes before its object's other problems, which may follow from it. */
function byName(a: FieldProblem, b: FieldProblem): number {
  const depth = a.path.findIndex((key, at) => b.path[at] !== key);
  const rank = ({ path, unknown }: FieldProblem) =>
    unknown && path.length === depth + 1 ? 0 : 1;
  return rank(a) - rank(b);
}

/** `models[0].options.threads` */
export const pathText = (path: FieldPath, prefix = ''): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? key : `${text}.${key}`;
  }, prefix);

import { type z } from 'zod';
import { CodedError } from './coded-error.js';
import { writeJson } from './exact-numbers.js';
import { type Fields } from './is-object.js';
import { didYouMean } from './nearest-name.js';
import { REQUIRED } from './rules.js';

/** What is wrong with a field of a request or a job. */
type FieldError = CodedError<
  'invalid_value' | 'missing_required_parameter' | 'unknown_parameter' | 'unsupported_parameter'
>;

const LONGEST_NAME = 64;

const SHOWN_CHARACTERS = 80;

/**
 * An object of a client or of a job, as its schema reads it.
 * @param path of the object in what was sent; empty: it is all of it
 * @throws CodedError `invalid_value`, `missing_required_parameter`,
 *   `unknown_parameter` or `unsupported_parameter` for its first problem
 */
export function readObject<S extends z.ZodType>(schema: S, value: unknown, path = ''): z.output<S> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  throw fieldError(error.issues[0]!, value, path);
}

function fieldError(issue: z.core.$ZodIssue, object: unknown, prefix: string): FieldError {
  const path = issue.path as FieldPath;
  if (issue.code === 'unrecognized_keys') {
    const param = pathText([...path, issue.keys[0]!.slice(0, LONGEST_NAME)], prefix);
    return new CodedError('unknown_parameter', `Unknown parameter: \`${param}\`.`, {
      param,
    });
  }
  const param = pathText(path, prefix);
  const value = valueAt(object, path);
  if (issue.code === 'custom' && issue.params?.why !== undefined)
    return unsupportedField(param, String(issue.params.why));
  if (issue.message === REQUIRED) return missingField(param);
  // A union is told apart by a field: without it, the form is wrong and not absent.
  const isAbsent = value == null && issue.code !== 'invalid_union';
  if (isAbsent && typeof path.at(-1) === 'string') return missingField(param);
  return wrongField(param, value, issue.message);
}

/** @param rule such as `: it must be text` */
export const missingField = (param: string, rule = ''): FieldError =>
  new CodedError('missing_required_parameter', `\`${param}\` is required${rule}.`, {
    param,
  });

export const unsupportedField = (param: string, why: string): FieldError =>
  new CodedError('unsupported_parameter', `\`${param}\` cannot be honoured: ${why}.`, {
    param,
  });

/** @param message a whole sentence */
export const invalidField = (param: string, message: string): FieldError =>
  new CodedError('invalid_value', message, { param });

/** @param rule such as `must be a number from 0 to 1` */
export function wrongField(param: string, value: unknown, rule: string): FieldError {
  const what = param === '' ? 'What was sent' : `\`${param}\``;
  const text = writeJson(value) ?? 'nothing';
  const shown = text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
  return new CodedError('invalid_value', `${what} ${rule}; got ${shown}.`, { param });
}

type FieldPath = readonly (string | number)[];

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
    issue.code === 'invalid_union' ? issue.errors.flat().filter(({ path }) => path.length > 0) : [];
  if (inside.length === 0) return [issue];
  return inside.map(one => ({ ...one, path: [...issue.path, ...one.path] }));
}

const startsWith = (path: readonly unknown[], start: readonly unknown[]) =>
  start.every((key, depth) => path[depth] === key);

/** Of a single value; others say what several fields are to each other. */
const isRule = ({ code, message }: z.core.$ZodIssue) =>
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
    issue.code === 'invalid_value' && message.startsWith('must') ? issue.values.map(String) : [];
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

const valueAt = (object: unknown, path: FieldPath) =>
  path.reduce((value, key) => (value as Fields | null | undefined)?.[key], object);

/** A misspelt name comes before its object's other problems, which may follow from it. */
function byName(a: FieldProblem, b: FieldProblem): number {
  const depth = a.path.findIndex((key, at) => b.path[at] !== key);
  const rank = ({ path, unknown }: FieldProblem) => (unknown && path.length === depth + 1 ? 0 : 1);
  return rank(a) - rank(b);
}

/** `models[0].options.threads` */
export const pathText = (path: FieldPath, prefix = ''): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? key : `${text}.${key}`;
  }, prefix);

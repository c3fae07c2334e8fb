import { type z } from 'zod';
import { DomainError } from '../../core/errors/domain-error.js';
import { type FieldPath, pathText, valueAt } from './field-problems.js';
import { REQUIRED } from './rules.js';

const LONGEST_NAME = 64;
const SHOWN_CHARACTERS = 80;

/**
 * An object of a client or of a job, as its schema reads it.
 * @param path of the object in what was sent; empty: it is all of it
 * @throws DomainError `invalid_value`, `missing_required_parameter`,
 *   `unknown_parameter` or `unsupported_parameter` for its first problem
 */
export function readObject<S extends z.ZodType>(
  schema: S,
  value: unknown,
  path = '',
): z.output<S> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  throw fieldError(error.issues[0]!, value, path);
}

function fieldError(
  issue: z.core.$ZodIssue,
  object: unknown,
  prefix: string,
): DomainError {
  const path = issue.path as FieldPath;
  if (issue.code === 'unrecognized_keys') {
    const param = pathText([...path, issue.keys[0]!.slice(0, LONGEST_NAME)], prefix);
    return new DomainError('unknown_parameter', `Unknown parameter: \`${param}\`.`, {
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

export const missingField = (param: string): DomainError =>
  new DomainError('missing_required_parameter', `\`${param}\` is required.`, { param });

export const unsupportedField = (param: string, why: string): DomainError =>
  new DomainError('unsupported_parameter', `\`${param}\` cannot be honoured: ${why}.`, {
    param,
  });

/** @param rule such as `must be a number from 0 to 1` */
export function wrongField(param: string, value: unknown, rule: string): DomainError {
  const what = param === '' ? 'What was sent' : `\`${param}\``;
  const text = JSON.stringify(value) ?? 'nothing';
  const shown =
    text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
  return new DomainError('invalid_value', `${what} ${rule}; got ${shown}.`, { param });
}

import { BODY_BOUNDS, jsonExcess } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { isObject, type Fields } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type JobProblem, type BatchJob } from './batch-job.js';
import { prefixHash } from './prefix-hash.js';

const LONGEST_CUSTOM_ID = 512;

/** How many problems a job reports (D-17). */
export const MOST_PROBLEMS = 100;

/**
 * A body, in an object with its name and address. Targets other than the gateway may take
 * deeper ones than it does.
 */
const LINE_BOUNDS = {
  ...BODY_BOUNDS,
  levels: 1000,
  nodes: BODY_BOUNDS.nodes + 100,
};

export interface InvalidLine {
  readonly ok: false;
  readonly problem: JobProblem;
  /**
   * Present when the line has a usable one, for its entry in the error file
   * under lenient validation.
   */
  readonly customId?: string;
}

interface LineContext {
  /** From 1. */
  readonly line: number;
  readonly endpoint: BatchJob['endpoint'];
  /** `custom_id` seen before in this file. */
  readonly seen: (customId: string) => boolean;
}

/**
 * Text of one line → whether it can be sent, and under which name. Every check is per
 * line and names the line (D-17).
 */
export function validateLine(
  text: string,
  context: LineContext,
):
  | {
      readonly ok: true;
      readonly customId: string;
      readonly model: string;
      readonly prefixHash: number;
    }
  | InvalidLine {
  const problem = (code: string, message: string, param: string | null): InvalidLine => ({
    ok: false,
    problem: { code, message, param, line: context.line },
  });
  if (text.trim() === '') return problem('empty_line', 'The line is blank.', null);
  const parsed = jsonIn(text, LINE_BOUNDS);
  if (parsed === undefined) {
    const why = jsonExcess(text, LINE_BOUNDS) ?? 'is not valid JSON';
    return problem('invalid_json_line', `The line ${why}.`, null);
  }
  if (!isObject(parsed))
    return problem('invalid_json_line', 'The line must be a JSON object.', null);
  const found = firstProblem(parsed, context);
  const customId = usableId(parsed.custom_id);
  if (found) return { ...problem(...found), ...(customId === undefined ? {} : { customId }) };
  const body = parsed.body as { readonly model: string };
  return {
    ok: true,
    customId: customId!,
    model: body.model,
    prefixHash: prefixHash(body),
  };
}

type Found = readonly [code: string, message: string, param: string];

function firstProblem(
  { custom_id, method, url, body }: Fields,
  { endpoint, seen }: LineContext,
): Found | undefined {
  if (typeof custom_id !== 'string' || custom_id === '')
    return [
      'missing_required_parameter',
      '`custom_id` must be a string that is not empty.',
      'custom_id',
    ];
  if (custom_id.length > LONGEST_CUSTOM_ID)
    return [
      'invalid_value',
      `\`custom_id\` has ${custom_id.length} characters; at most ${LONGEST_CUSTOM_ID}.`,
      'custom_id',
    ];
  if (seen(custom_id))
    return [
      'duplicate_custom_id',
      `\`custom_id\` ${writeJson(custom_id)} is used by a line before.`,
      'custom_id',
    ];
  if (method !== 'POST')
    return ['invalid_method', `\`method\` must be POST; got ${shown(method)}.`, 'method'];
  if (url !== endpoint)
    return [
      'mismatched_url',
      `\`url\` must be the endpoint of the batch, ${endpoint}; got ${shown(url)}.`,
      'url',
    ];
  return bodyProblem(body);
}

function bodyProblem(body: unknown): Found | undefined {
  if (!isObject(body))
    return ['missing_required_parameter', '`body` must be a JSON object.', 'body'];
  if (typeof body.model !== 'string' || body.model === '')
    return [
      'missing_required_parameter',
      '`body.model` must be a string that is not empty.',
      'body.model',
    ];
  const [name] = NOT_WHOLE.find(([name, values]) => values.test(writeJson(body[name]) ?? '')) ?? [];
  if (name !== undefined)
    return [
      'unsupported_parameter',
      `\`body.${name}\` must not be ${shown(body[name])}: a line has one answer, when it is whole.`,
      `body.${name}`,
    ];
  return undefined;
}

/** Fields with which an answer comes in events or later, and those values, as JSON and as in a form. */
const NOT_WHOLE: readonly (readonly [name: string, values: RegExp])[] = [
  ['stream', /^\[?"?(true|1)"?]?$/i],
  ['stream_format', /^"sse"$/],
  ['background', /^true$/],
];

const usableId = (id: unknown): string | undefined =>
  typeof id === 'string' && id !== '' && id.length <= LONGEST_CUSTOM_ID ? id : undefined;

/** A value in a message, cut to what a person wants to read. */
const shown = (value: unknown): string => (writeJson(value) ?? 'nothing').slice(0, 80);

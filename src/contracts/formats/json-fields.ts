import { BODY_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { membersOf, valueSpans } from '../../core/jobs/line-span.js';

/**
 * Sets some top-level fields of a JSON object and leaves every other byte unchanged:
 * numbers keep their digits, unknown fields their order and spelling. If a field is given
 * twice the last one is set, which is the one that parsers use.
 * @param json an object that JSON.parse accepts, in UTF-8
 * @returns the bytes of the new object, to be joined
 */
export function jsonWithFields(json: Buffer, fields: Fields): Buffer[] {
  const names = Object.keys(fields);
  const spans = valueSpans(json, names);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const [name, { start, end }] of Object.entries(spans)) {
    pieces.push(json.subarray(at, start), Buffer.from(writeJson(fields[name])));
    at = end;
  }
  const close = json.lastIndexOf('}');
  const isEmpty = close < 64 && json.toString('utf8', 0, close).trim() === '{';
  let added = '';
  for (const name of names)
    if (!spans[name]) added += `,${writeJson(name)}:${writeJson(fields[name])}`;
  const missing = Buffer.from(isEmpty ? added.slice(1) : added);
  return [...pieces, json.subarray(at, close), missing, json.subarray(close)];
}

/** `jsonWithFields`, joined. */
export const withJsonFields = (json: Buffer, fields: Fields): Buffer =>
  Buffer.concat(jsonWithFields(json, fields));

const COMMA = 0x2c;
const SPACE = 0x20;

/** A JSON object without a top-level field, however often it is given. No other byte changes. */
export function withoutJsonField(json: Buffer, name: string): Buffer {
  const pieces: Buffer[] = [];
  let rest = 0;
  for (const { name: start, end } of membersOf(json, [name])) {
    pieces.push(json.subarray(rest, start));
    rest = json[end] === COMMA ? end + 1 : end;
  }
  if (pieces.length === 0) return json;
  const before = Buffer.concat(pieces);
  // It was the last field: the comma before it goes, too.
  const isLast = json[rest - 1] !== COMMA;
  return Buffer.concat([isLast ? withoutComma(before) : before, json.subarray(rest)]);
}

function withoutComma(json: Buffer): Buffer {
  let end = json.length;
  while (json[end - 1]! <= SPACE) end -= 1;
  return json[end - 1] === COMMA ? json.subarray(0, end - 1) : json;
}

/** `withJsonFields` of the object in the field `name`, which is there. */
export function withInnerFields(json: Buffer, name: string, fields: Fields): Buffer {
  const { start, end } = valueSpans(json, [name])[name]!;
  const inner = withJsonFields(json.subarray(start, end), fields);
  return Buffer.concat([json.subarray(0, start), inner, json.subarray(end)]);
}

/** The JSON of a top-level field. */
export function jsonOf(json: Buffer, name: string): Buffer | undefined {
  const span = valueSpans(json, [name])[name];
  return span && json.subarray(span.start, span.end);
}

/** Some top-level fields of an object. Nothing else of it is read. */
export function valuesIn(json: Buffer, names: readonly string[], bounds = BODY_BOUNDS): Fields {
  const found = Object.entries(valueSpans(json, names)).map(([name, { start, end }]) => {
    return [name, parseBoundedJson(json.toString('utf8', start, end), bounds)] as const;
  });
  return Object.fromEntries(found);
}

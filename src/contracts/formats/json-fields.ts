import { valueSpan } from '../../core/jobs/line-span.js';

/**
 * Sets some top-level fields of a JSON object and leaves every other byte unchanged: numbers keep their digits, unknown
 * fields their order and spelling. If a field is given twice the last one is set, which is the one that parsers use.
 *
 * @param json an object that JSON.parse accepts, in UTF-8
 */
export const withJsonFields = (json: Buffer, fields: Readonly<Record<string, unknown>>): Buffer =>
  Object.entries(fields).reduce((object, [name, value]) => withField(object, name, JSON.stringify(value)), json);

function withField(json: Buffer, name: string, value: string): Buffer {
  const span = valueSpan(json, name);
  if (span) return Buffer.concat([json.subarray(0, span.start), Buffer.from(value), json.subarray(span.end)]);
  const end = json.lastIndexOf('}');
  const comma = isEmptyObject(json.subarray(0, end)) ? '' : ',';
  return Buffer.concat([
    json.subarray(0, end),
    Buffer.from(`${comma}${JSON.stringify(name)}:${value}`),
    json.subarray(end),
  ]);
}

/** @param start the object without its closing brace */
const isEmptyObject = (start: Buffer): boolean => start.length < 64 && start.toString('utf8').trim() === '{';

import { type Span, valueSpans } from '../../core/jobs/line-span.js';

/**
 * Sets some top-level fields of JSON objects and leaves every other byte unchanged:
 * numbers keep their digits, unknown fields their order and spelling. If a field is given
 * twice the last one is set, which is the one that parsers use.
 */
export class JsonFields {
  readonly #names: readonly string[];
  readonly #values: ReadonlyMap<string, Buffer>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.#names = Object.keys(fields);
    this.#values = new Map(
      Object.entries(fields).map(([name, value]) => [
        name,
        Buffer.from(JSON.stringify(value)),
      ]),
    );
  }

  /**
   * @param json an object that JSON.parse accepts, in UTF-8
   * @returns the bytes of the new object, to be joined
   */
  pieces(json: Buffer): Buffer[] {
    const spans: Partial<Record<string, Span>> = valueSpans(json, this.#names);
    const present = this.#names
      .filter(name => spans[name])
      .sort((a, b) => spans[a]!.start - spans[b]!.start);
    const pieces: Buffer[] = [];
    let at = 0;
    for (const name of present) {
      pieces.push(json.subarray(at, spans[name]!.start), this.#values.get(name)!);
      at = spans[name]!.end;
    }
    const end = json.lastIndexOf('}');
    return [
      ...pieces,
      json.subarray(at, end),
      this.#added(spans, isEmptyObject(json.subarray(0, end))),
      json.subarray(end),
    ];
  }

  /** Fields that the object does not have, as the end of it. */
  #added(spans: Partial<Record<string, Span>>, empty: boolean): Buffer {
    const fields = this.#names
      .filter(name => !spans[name])
      .map(name => `${JSON.stringify(name)}:${this.#values.get(name)!.toString()}`);
    return Buffer.from(fields.length === 0 ? '' : (empty ? '' : ',') + fields.join(','));
  }
}

/** One object with these fields set. @see JsonFields */
export const withJsonFields = (
  json: Buffer,
  fields: Readonly<Record<string, unknown>>,
): Buffer => Buffer.concat(new JsonFields(fields).pieces(json));

/** @param start the object without its closing brace */
const isEmptyObject = (start: Buffer) =>
  start.length < 64 && start.toString('utf8').trim() === '{';

/** `withJsonFields` of the object in the field `name`, which is there. */
export function withInnerFields(
  json: Buffer,
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Buffer {
  const { start, end } = valueSpans(json, [name])[name]!;
  const inner = withJsonFields(json.subarray(start, end), fields);
  return Buffer.concat([json.subarray(0, start), inner, json.subarray(end)]);
}

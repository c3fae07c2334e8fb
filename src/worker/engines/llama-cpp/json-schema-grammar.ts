import { DomainError } from '../../../core/shared/domain-error.js';

type Schema = Readonly<Record<string, unknown>>;

/** What describes and does not restrict; every other keyword acts or is refused. */
const NOTES = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$schema',
  '$id',
  '$defs',
  'definitions',
  'strict',
]);

const SPACE = '[ \\t\\n]{0,20}';
/** JSON in GBNF. The bound on white space keeps a model from writing nothing but. */
const BASIC = {
  space: SPACE,
  string: '"\\"" char* "\\""',
  char: '[^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\bfnrt/] | "u" [0-9a-fA-F]{4})',
  number: '"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?',
  integer: '"-"? ("0" | [1-9] [0-9]{0,15})',
  boolean: '"true" | "false"',
  null: '"null"',
  object: '"{" space (string space ":" space value (space "," space string space ":" space value)*)? space "}"',
  array: '"[" space (value (space "," space value)*)? space "]"',
  value: 'object | array | string | number | boolean | null',
} as const;

/** Any JSON object. */
export const anyObjectGrammar = (): string => grammarText(new Map([['root', 'object']]));

/**
 * A JSON schema as GBNF: every whole answer that the grammar lets through is valid under the schema (`oneOf` is read as `anyOf`).
 * Properties come in the order of the schema. @throws DomainError invalid_value at a keyword that could not be honoured
 */
export function schemaGrammar(schema: object): string {
  return new SchemaRules(schema as Schema).text();
}

const grammarText = (rules: ReadonlyMap<string, string>): string =>
  [...rules, ...Object.entries(BASIC)].map(([name, body]) => `${name} ::= ${body}`).join('\n');

class SchemaRules {
  readonly #rules = new Map<string, string>();
  readonly #references = new Map<string, string>();
  readonly #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  text(): string {
    this.#rules.set('root', '');
    this.#rules.set('root', this.#expression(this.#root, 'schema'));
    return grammarText(this.#rules);
  }

  #expression(schema: unknown, path: string): string {
    if (schema === true) return 'value';
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
      throw refused(path, 'a schema is an object');
    const given = schema as Schema;
    const { $ref: reference, anyOf, oneOf, const: constant, enum: choices, type } = given;
    if (reference !== undefined) return this.#only(given, path, ['$ref'], () => this.#reference(reference, path));
    if (constant !== undefined) return this.#only(given, path, ['const', 'type'], () => literal(constant));
    if (choices !== undefined)
      return this.#only(given, path, ['enum', 'type'], () => either(listOf(choices, `${path}.enum`).map(literal)));
    for (const [name, options] of Object.entries({ anyOf, oneOf }))
      if (options !== undefined) return this.#only(given, path, [name], () => this.#either(options, `${path}.${name}`));
    if (Array.isArray(type)) return either(type.map(one => this.#typed(without(given, one), one, path)));
    return this.#typed(given, type, path);
  }

  #either(options: unknown, path: string): string {
    return either(listOf(options, path).map((option, index) => this.#expression(option, `${path}[${index}]`)));
  }

  #typed(schema: Schema, type: unknown, path: string): string {
    switch (type) {
      case 'object':
        return this.#object(schema, path);
      case 'array':
        return this.#array(schema, path);
      case 'string':
        return this.#only(schema, path, ['type', 'minLength', 'maxLength'], () => string(schema, path));
      case 'number':
      case 'integer':
      case 'boolean':
      case 'null':
        return this.#only(schema, path, ['type'], () => type);
      case undefined:
        return schema.properties === undefined
          ? this.#only(schema, path, [], () => 'value')
          : this.#object(schema, path);
      default:
        throw refused(`${path}.type`, `${JSON.stringify(type)} is no type`);
    }
  }

  #object(schema: Schema, path: string): string {
    const { properties = {}, required = [], additionalProperties } = schema;
    const known = ['type', 'properties', 'required', 'additionalProperties'];
    return this.#only(schema, path, known, () => {
      for (const name of required as readonly string[])
        if (!Object.hasOwn(properties as Schema, name)) throw refused(`${path}.required`, `${name} is no property`);
      const members = Object.entries(properties as Schema).map(([name, value]) => ({
        text: `${literal(name)} space ":" space ${this.#rule(value, `${path}.properties.${name}`)}`,
        isRequired: (required as readonly unknown[]).includes(name),
      }));
      const more = members.length > 0 ? undefined : this.#additional(additionalProperties ?? true, path);
      return `"{" space ${membersOf(members, more)} space "}"`;
    });
  }

  /** Only where no properties are named: a grammar cannot tell other keys from those, and leaving others out is always valid. */
  #additional(schema: unknown, path: string): string | undefined {
    if (schema === true) return 'string space ":" space value';
    if (schema === false) return undefined;
    return `string space ":" space ${this.#rule(schema, `${path}.additionalProperties`)}`;
  }

  #array(schema: Schema, path: string): string {
    const { items = true, minItems, maxItems } = schema;
    return this.#only(schema, path, ['type', 'items', 'minItems', 'maxItems'], () => {
      const item = this.#rule(items, `${path}.items`);
      const least = count(minItems, 0, `${path}.minItems`);
      const most = count(maxItems, undefined, `${path}.maxItems`);
      if (most === 0) return '"[" space "]"';
      const more = `(space "," space ${item}){${Math.max(0, least - 1)},${most === undefined ? '' : most - 1}}`;
      const list = `${item} ${more}`;
      return `"[" space ${least === 0 ? `(${list})?` : list} space "]"`;
    });
  }

  #reference(reference: unknown, path: string): string {
    if (typeof reference !== 'string' || !reference.startsWith('#'))
      throw refused(`${path}.$ref`, 'only references into the schema itself are followed');
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const name = this.#fresh();
    this.#references.set(reference, name);
    let target: unknown = this.#root;
    for (const part of reference
      .slice(1)
      .split('/')
      .filter(piece => piece !== ''))
      target = (target as Schema | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
    if (target === undefined) throw refused(`${path}.$ref`, `${reference} leads nowhere`);
    this.#rules.set(name, this.#expression(target, reference));
    return name;
  }

  /** Of its own, so that what stands there once does not grow with every place it is used. */
  #rule(schema: unknown, path: string): string {
    const name = this.#fresh();
    this.#rules.set(name, this.#expression(schema, path));
    return name;
  }

  #fresh(): string {
    const name = `r${this.#rules.size}`;
    this.#rules.set(name, '');
    return name;
  }

  #only(schema: Schema, path: string, keywords: readonly string[], rule: () => string): string {
    for (const keyword of Object.keys(schema))
      if (!keywords.includes(keyword) && !NOTES.has(keyword))
        throw refused(`${path}.${keyword}`, 'this keyword cannot be held here');
    return rule();
  }
}

interface Member {
  readonly text: string;
  readonly isRequired: boolean;
}

/** Members in order, with commas between those that are there. */
function membersOf(members: readonly Member[], more: string | undefined): string {
  const [first, ...rest] = members;
  const comma = 'space "," space';
  if (first === undefined) return more === undefined ? '' : `(${more} (${comma} ${more})*)?`;
  const after = [
    ...rest.map(({ text, isRequired }) => (isRequired ? `${comma} ${text}` : `(${comma} ${text})?`)),
    ...(more === undefined ? [] : [`(${comma} ${more})*`]),
  ].join(' ');
  const withFirst = `${first.text} ${after}`;
  if (first.isRequired) return withFirst;
  const without = membersOf(rest, more);
  return without === '' ? `(${withFirst})?` : `(${withFirst} | ${without})`;
}

function string({ minLength, maxLength }: Schema, path: string): string {
  const least = count(minLength, 0, `${path}.minLength`);
  const most = count(maxLength, undefined, `${path}.maxLength`);
  return least === 0 && most === undefined ? 'string' : `"\\"" char{${least},${most ?? ''}} "\\""`;
}

function count<T>(value: unknown, fallback: T, path: string): number | T {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 10_000) return value;
  throw refused(path, 'a count from 0 to 10000');
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw refused(path, 'a list of at least one');
}

/** Keywords of other types than `type` do not concern it. */
function without(schema: Schema, type: unknown): Schema {
  const own: Readonly<Record<string, readonly string[]>> = {
    object: ['properties', 'required', 'additionalProperties'],
    array: ['items', 'minItems', 'maxItems'],
    string: ['minLength', 'maxLength'],
  };
  const foreign = Object.entries(own).flatMap(([name, keywords]) => (name === type ? [] : keywords));
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !foreign.includes(keyword)));
}

const either = (options: readonly string[]): string => `(${options.join(' | ')})`;

/** JSON text as a GBNF literal: JSON's own escapes, escaped once more. */
const literal = (value: unknown): string => `"${JSON.stringify(value).replace(/[\\"]/g, '\\$&')}"`;

const refused = (path: string, why: string): DomainError =>
  new DomainError('invalid_value', `\`${path}\`: ${why}.`, { param: 'response_format' });

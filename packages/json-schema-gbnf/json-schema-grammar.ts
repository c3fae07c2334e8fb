import { exactAt, writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { arrayExpression, objectExpression, type SchemaWriter } from './container-rules.js';
import { refused } from './grammar-error.js';
import { either, GrammarRules, literal } from './grammar-rules.js';
import { numberAllows, numberExpression } from './number-rules.js';
import { isSchemaObject, type Schema, schemaList, shown, valueList } from './schema-fields.js';
import { isAnnotation, JSON_TYPES, keywordOf } from './schema-keywords.js';
import { mergedSchemas } from './schema-merge.js';
import { StringRules } from './string-rules.js';

type JsonType = (typeof JSON_TYPES)[number];

const DEEPEST_REFERENCE = 100;

/**
 * A JSON schema as GBNF: every whole answer that the grammar lets through is valid under
 * the schema (`schema-keywords` tells how far each keyword is held). @param path of the
 * schema in the request, for messages
 * @throws GrammarError at a keyword that could not be honoured, or beyond a bound
 */
export function schemaGrammar(schema: object, path: string): string {
  const rules = new GrammarRules(path);
  rules.set('root', schemaExpression(schema, path, rules));
  return rules.text();
}

/** The expression of a schema; the rules that it needs are added to `rules`. */
export const schemaExpression = (schema: object, path: string, rules: GrammarRules): string =>
  new SchemaGrammar(schema as Schema, path, rules).expression();

class SchemaGrammar implements SchemaWriter {
  readonly strings: StringRules;
  readonly #numbers: StringRules;
  readonly #references = new Map<string, string>();
  readonly #known = new Map<object, string>();
  readonly #resolved = new Map<object, Schema>();
  #following = 0;

  constructor(
    private readonly root: Schema,
    private readonly path: string,
    readonly rules: GrammarRules,
  ) {
    this.strings = new StringRules(rules);
    this.#numbers = new StringRules(rules, false);
  }

  expression(): string {
    return this.#expression(this.root, this.path);
  }

  rule(schema: unknown, path: string): string {
    const known = isSchemaObject(schema) ? this.#known.get(schema) : undefined;
    if (known !== undefined) return known;
    const name = this.rules.add();
    if (isSchemaObject(schema)) this.#known.set(schema, name);
    this.rules.set(name, this.#expression(schema, path));
    return name;
  }

  resolved(given: unknown, path: string): Schema {
    if (given === true) return {};
    const known = isSchemaObject(given) ? this.#resolved.get(given) : undefined;
    if (known) return known;
    if (this.#following >= DEEPEST_REFERENCE)
      throw refused(
        path,
        `more than ${DEEPEST_REFERENCE} references or \`allOf\` lead from one to the next`,
      );
    this.rules.count(path);
    this.#following += 1;
    const schema = this.#merged(schemaOf(given, path), path);
    this.#following -= 1;
    this.#resolved.set(given as object, schema);
    return schema;
  }

  #merged(given: Schema, path: string): Schema {
    const { $ref: reference, ...rest } = given;
    let schema = given;
    if (reference !== undefined) {
      const [target, place] = this.#targetOf(reference, path);
      const followed = this.resolved(target, place);
      schema = Object.keys(rest).length === 0 ? followed : mergedSchemas(rest, followed, path);
    }
    const { allOf, ...own } = schema;
    if (allOf === undefined) return schema;
    return schemaList(allOf, `${path}.allOf`).reduce<Schema>((merged, member, index) => {
      const at = `${path}.allOf[${index}]`;
      return mergedSchemas(merged, this.resolved(member, at), at);
    }, own);
  }

  valuesOf(schema: Schema, path: string): readonly unknown[] | undefined {
    const { enum: choices, type } = schema;
    const constant = exactAt(schema, 'const', JSON.rawJSON);
    if (choices === undefined && constant === undefined)
      return type === 'boolean' ? [true, false] : type === 'null' ? [null] : undefined;
    const listed = choices === undefined ? [constant] : valueList(choices, `${path}.enum`);
    const wanted = constant === undefined ? undefined : writeJson(constant);
    return listed
      .filter(value => wanted === undefined || writeJson(value) === wanted)
      .filter(value => this.#allows(schema, value, path));
  }

  #expression(schema: unknown, path: string): string {
    if (schema === true) return 'value';
    return this.rules.inside(path, () => this.#expressionOf(schemaOf(schema, path), path));
  }

  #expressionOf(schema: Schema, path: string): string {
    const { $ref: reference, allOf, nullable, anyOf, oneOf } = schema;
    if (reference !== undefined && isAlone(schema, '$ref')) return this.#reference(reference, path);
    if (reference !== undefined || allOf !== undefined) return this.#joined(schema, allOf, path);
    demandKnown(schema, path);
    if (nullable === true)
      return either([this.#expression({ ...schema, nullable: false }, path), 'null']);
    if (anyOf !== undefined) return this.#either(schema, 'anyOf', path);
    if (oneOf !== undefined) return this.#either(schema, 'oneOf', path);
    return this.#valueOrTyped(schema, path);
  }

  #joined(schema: Schema, allOf: unknown, path: string): string {
    if (Array.isArray(allOf) && allOf.length === 1 && isAlone(schema, 'allOf'))
      return this.#expression(allOf[0], `${path}.allOf[0]`);
    return this.#expression(this.resolved(schema, path), path);
  }

  #valueOrTyped(schema: Schema, path: string): string {
    if (schema.enum !== undefined || schema.const !== undefined) {
      const values = this.valuesOf(schema, path) ?? [];
      if (values.length > 0)
        return schema.enum === undefined ? literal(values[0]) : either(values.map(literal));
      throw refused(
        `${path}.${schema.enum === undefined ? 'const' : 'enum'}`,
        'no value meets the keywords beside it',
      );
    }
    const types = typesOf(schema, path);
    if (types.length === 0) return 'value';
    const written = [...new Set(types)].map(type => this.#typed(schema, type, path));
    return Array.isArray(schema.type) || written.length > 1 ? either(written) : written[0]!;
  }

  /** The options of `anyOf` or `oneOf`; keywords beside it hold for each option. */
  #either(schema: Schema, keyword: 'anyOf' | 'oneOf', path: string): string {
    const { [keyword]: options, ...rest } = schema;
    if (rest.oneOf !== undefined) throw refused(`${path}.oneOf`, 'cannot be held beside `anyOf`');
    const isPlain = isAlone(schema, keyword);
    return either(
      schemaList(options, `${path}.${keyword}`).map((option, index) => {
        const at = `${path}.${keyword}[${index}]`;
        return this.#expression(
          isPlain ? option : mergedSchemas(rest, this.resolved(option, at), at),
          at,
        );
      }),
    );
  }

  #typed(schema: Schema, type: JsonType, path: string): string {
    demandKnown(schema, path, type);
    switch (type) {
      case 'object':
        return objectExpression(schema, path, this);
      case 'array':
        return arrayExpression(schema, path, this);
      case 'string':
        return this.strings.of(schema, path).expression();
      case 'number':
      case 'integer':
        return numberExpression(withFormat(schema, path), type, path, this.#numbers);
      default:
        return type;
    }
  }

  #allows(schema: Schema, exact: unknown, path: string): boolean {
    const value = JSON.isRawJSON(exact) ? Number(exact.rawJSON) : exact;
    const types = schema.type === undefined ? undefined : typesOf(schema, path);
    const own = typeOf(value);
    if (types && !types.includes(own) && !(own === 'integer' && types.includes('number')))
      return false;
    if (typeof value === 'number') return numberAllows(withFormat(schema, path), value, path);
    if (typeof value === 'string') return this.strings.of(schema, path).allows(value);
    const unchecked = Object.keys(schema).find(name => keywordOf(name).of?.includes(own));
    if (unchecked === undefined) return true;
    throw refused(
      `${path}.${unchecked}`,
      `cannot be held beside a list of values with ${shown(value)}`,
    );
  }

  #reference(reference: unknown, path: string): string {
    const known = typeof reference === 'string' ? this.#references.get(reference) : undefined;
    if (known !== undefined) return known;
    const [target, place] = this.#targetOf(reference, path);
    const name = this.rules.add();
    this.#references.set(String(reference), name);
    this.rules.set(name, this.#expression(target, place));
    return name;
  }

  #targetOf(reference: unknown, path: string): readonly [target: unknown, path: string] {
    if (typeof reference !== 'string' || !reference.startsWith('#'))
      throw refused(
        `${path}.$ref`,
        `only references into the schema itself are followed; got ${shown(reference)}`,
      );
    let [target, place]: [unknown, string] = [this.root, this.path];
    for (const part of partsOf(reference)) {
      const isThere =
        (isSchemaObject(target) || Array.isArray(target)) && Object.hasOwn(target, part);
      target = isThere ? (target as Schema)[part] : undefined;
      place = `${place}.${part}`;
    }
    if (target === undefined) throw refused(`${path}.$ref`, `${shown(reference)} leads nowhere`);
    return [target, place];
  }
}

/** @throws GrammarError at anything but a schema that is an object */
function schemaOf(value: unknown, path: string): Schema {
  if (isSchemaObject(value)) return value;
  throw refused(path, `a schema is an object or true; got ${shown(value)}`);
}

/** True when the schema has only this keyword, annotations and unused definitions. */
function isAlone(schema: Schema, keyword: string): boolean {
  const silent = (name: string): boolean =>
    isAnnotation(name) ||
    name === '$defs' ||
    name === 'definitions' ||
    (name === 'nullable' && schema[name] !== true);
  return Object.keys(schema).every(name => name === keyword || silent(name));
}

/** Rejects unknown keywords about values of `type`; without it, about values of any type. */
function demandKnown(schema: Schema, path: string, type?: JsonType): void {
  const refusedOne = Object.keys(schema).find(keyword => {
    const { treatment, of } = keywordOf(keyword);
    return treatment === 'refused' && (type ? of?.includes(type) : of === undefined);
  });
  if (refusedOne !== undefined)
    throw refused(`${path}.${refusedOne}`, 'this keyword cannot be held');
}

/** Those that are named; without, those that some keyword is about. Empty: any value. */
function typesOf(schema: Schema, path: string): readonly JsonType[] {
  const { type } = schema;
  if (type === undefined) {
    const about = Object.keys(schema).flatMap(name => keywordOf(name).of?.[0] ?? []);
    return about.length === 0 && typeof schema.format === 'string'
      ? ['string']
      : [...new Set(about)];
  }
  const named = Array.isArray(type) ? schemaList(type, `${path}.type`) : [type];
  return named.map(one => {
    const known = JSON_TYPES.find(each => each === one);
    if (known === undefined) throw refused(`${path}.type`, `${shown(one)} is no type`);
    return known;
  });
}

/** The JSON type of a parsed value. */
function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : (typeof value as JsonType);
}

const DESCRIBING_NUMBERS: ReadonlySet<unknown> = new Set(['int64', 'float', 'double', 'decimal']);

/** Adds the range that a format of numbers means, such as `int32`. */
function withFormat(schema: Schema, path: string): Schema {
  const { format } = schema;
  if (format === undefined || DESCRIBING_NUMBERS.has(format)) return schema;
  if (format === 'int32')
    return mergedSchemas(schema, { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }, path);
  throw refused(`${path}.format`, `cannot be held for a number; got ${shown(format)}`);
}

/** The steps of a JSON pointer. */
function partsOf(reference: string): readonly string[] {
  const parts = reference.slice(1).split('/');
  return parts
    .filter(part => part !== '')
    .map(part => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

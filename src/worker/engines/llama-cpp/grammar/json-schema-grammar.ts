import { either, grammarText, KNOWN_FORMATS, literal } from './json-rules.js';
import { repeated } from './repetition.js';
import {
  boundsOf,
  isObject,
  listOf,
  namesAt,
  objectAt,
  refused,
  type Schema,
  schemaOf,
  shown,
} from './schema-fields.js';

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

/** Schemas in schemas: deeper ones would overflow a stack here or in llama.cpp. */
const DEEPEST = 500;

const COMMA = 'space "," space';

/**
 * A JSON schema as GBNF: every whole answer that the grammar lets through is valid under the schema (`oneOf` is read as `anyOf`).
 * Properties come in the order of the schema.
 * @param path of the schema in the request, for messages
 * @throws DomainError invalid_value at a keyword that could not be honoured
 */
export function schemaGrammar(schema: object, path: string): string {
  return new SchemaRules(schema as Schema, path).text();
}

class SchemaRules {
  readonly #rules = new Map<string, string>();
  readonly #references = new Map<string, string>();
  #depth = 0;

  constructor(
    private readonly root: Schema,
    private readonly path: string,
  ) {}

  text(): string {
    this.#rules.set('root', '');
    this.#rules.set('root', this.#expression(this.root, this.path));
    return grammarText(this.#rules);
  }

  #expression(schema: unknown, path: string): string {
    if (schema === true) return 'value';
    if (this.#depth >= DEEPEST) throw refused(path, `schemas in schemas are at most ${DEEPEST} deep`);
    this.#depth += 1;
    const expression = this.#expressionOf(schemaOf(schema, path), path);
    this.#depth -= 1;
    return expression;
  }

  #expressionOf(given: Schema, path: string): string {
    const { $ref: reference, anyOf, oneOf, const: constant, enum: choices, type } = given;
    if (reference !== undefined) return this.#only(given, path, ['$ref'], () => this.#reference(reference, path));
    if (constant !== undefined) return this.#only(given, path, ['const', 'type'], () => literal(constant));
    if (choices !== undefined)
      return this.#only(given, path, ['enum', 'type'], () => either(listOf(choices, `${path}.enum`).map(literal)));
    for (const [name, options] of Object.entries({ anyOf, oneOf }))
      if (options !== undefined) return this.#only(given, path, [name], () => this.#either(options, `${path}.${name}`));
    if (Array.isArray(type))
      return either(listOf(type, `${path}.type`).map(one => this.#typed(without(given, one), one, path)));
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
        if (schema.format !== undefined)
          return this.#only(schema, path, ['type', 'format'], () => format(schema, path));
        return this.#only(schema, path, ['type', 'minLength', 'maxLength'], () => this.#string(schema, path));
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
        throw refused(`${path}.type`, `${shown(type)} is no type`);
    }
  }

  #string(schema: Schema, path: string): string {
    const bounds = boundsOf(schema, ['minLength', 'maxLength'], path);
    if (bounds.least === 0 && bounds.most === Infinity) return 'string';
    return `"\\"" ${repeated('char', bounds, this.#newRule)} "\\""`;
  }

  #object(schema: Schema, path: string): string {
    const known = ['type', 'properties', 'required', 'additionalProperties'];
    return this.#only(schema, path, known, () => {
      const properties = objectAt(schema, 'properties', path);
      const required = new Set(namesAt(schema, 'required', path));
      for (const name of required)
        if (!Object.hasOwn(properties, name)) throw refused(`${path}.required`, `${shown(name)} is no property`);
      const members = Object.entries(properties).map(([name, value]) => ({
        text: `${literal(name)} space ":" space ${this.#rule(value, `${path}.properties.${name}`)}`,
        isRequired: required.has(name),
      }));
      const inside = members.length > 0 ? this.#members(members) : this.#additional(schema.additionalProperties, path);
      return `"{" space ${inside} space "}"`;
    });
  }

  /** In order, with commas between those that are there. What follows one that may be left out is written down once. */
  #members(members: readonly Member[]): string {
    let [some, isDemanded] = ['', false];
    for (const { text, isRequired } of members.toReversed()) {
      const more = isDemanded ? ` ${COMMA} ${some}` : ` (${COMMA} ${some})?`;
      const here = some === '' ? text : `${text}${more}`;
      some = isRequired || some === '' ? here : this.#newRule(`${here} | ${some}`);
      isDemanded ||= isRequired;
    }
    return isDemanded ? some : `(${some})?`;
  }

  /** Only where no properties are named: a grammar cannot tell other keys from those, and leaving others out is always valid. */
  #additional(schema: unknown, path: string): string {
    if (schema === false) return '';
    const value = schema === undefined ? 'value' : this.#rule(schema, `${path}.additionalProperties`);
    const member = `string space ":" space ${value}`;
    return `(${member} (${COMMA} ${member})*)?`;
  }

  #array(schema: Schema, path: string): string {
    return this.#only(schema, path, ['type', 'items', 'minItems', 'maxItems'], () => {
      const item = this.#rule(schema.items === undefined ? true : schema.items, `${path}.items`);
      const { least, most } = boundsOf(schema, ['minItems', 'maxItems'], path);
      if (most === 0) return '"[" space "]"';
      const more = repeated(`(${COMMA} ${item})`, { least: Math.max(0, least - 1), most: most - 1 }, this.#newRule);
      const list = `${item} ${more}`;
      return `"[" space ${least === 0 ? `${this.#newRule(list)}?` : list} space "]"`;
    });
  }

  #reference(reference: unknown, path: string): string {
    if (typeof reference !== 'string' || !reference.startsWith('#'))
      throw refused(`${path}.$ref`, `only references into the schema itself are followed; got ${shown(reference)}`);
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const name = this.#newRule('');
    this.#references.set(reference, name);
    let [target, place]: [unknown, string] = [this.root, this.path];
    for (const part of partsOf(reference)) {
      target = isObject(target) && Object.hasOwn(target, part) ? target[part] : undefined;
      place = `${place}.${part}`;
    }
    if (target === undefined) throw refused(`${path}.$ref`, `${shown(reference)} leads nowhere`);
    this.#rules.set(name, this.#expression(target, place));
    return name;
  }

  /** Of its own, so that what stands there once does not grow with every place it is used. */
  #rule(schema: unknown, path: string): string {
    const name = this.#newRule('');
    this.#rules.set(name, this.#expression(schema, path));
    return name;
  }

  readonly #newRule = (body: string): string => {
    const name = `r${this.#rules.size}`;
    this.#rules.set(name, body);
    return name;
  };

  #only(schema: Schema, path: string, keywords: readonly string[], rule: () => string): string {
    for (const keyword of Object.keys(schema))
      if (!keywords.includes(keyword) && !NOTES.has(keyword))
        throw refused(`${path}.${keyword}`, 'this keyword cannot be held here');
    return rule();
  }
}

function format({ format: name }: Schema, path: string): string {
  if (KNOWN_FORMATS.includes(name)) return `"\\"" ${String(name)} "\\""`;
  throw refused(`${path}.format`, `cannot be held; those that can are ${KNOWN_FORMATS.join(', ')}; got ${shown(name)}`);
}

interface Member {
  readonly text: string;
  readonly isRequired: boolean;
}

/** Steps of a JSON pointer. */
function partsOf(reference: string): readonly string[] {
  const parts = reference.slice(1).split('/');
  return parts.filter(part => part !== '').map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Keywords of other types than `type` do not concern it. */
function without(schema: Schema, type: unknown): Schema {
  const own: Readonly<Record<string, readonly string[]>> = {
    object: ['properties', 'required', 'additionalProperties'],
    array: ['items', 'minItems', 'maxItems'],
    string: ['minLength', 'maxLength', 'format'],
  };
  const foreign = Object.entries(own).flatMap(([name, keywords]) => (name === type ? [] : keywords));
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !foreign.includes(keyword)));
}

import { refused } from './grammar-error.js';
import { type GrammarRules, literal } from './grammar-rules.js';
import {
  type Bounds,
  boundsOf,
  namesAt,
  objectAt,
  type Schema,
  schemaList,
  shown,
} from './schema-fields.js';
import { type StringRules } from './string-rules.js';

/** What the rules of objects and arrays need from the writer of the whole schema. */
export interface SchemaWriter {
  readonly rules: GrammarRules;
  readonly strings: StringRules;
  /**
   * The rule of a schema: what stands there once does not grow with every place
   * it is used.
   */
  rule(schema: unknown, path: string): string;
  /** The schema with `$ref` followed and `allOf` merged. */
  resolved(schema: unknown, path: string): Schema;
  /** All values that the schema allows, if it lists them. */
  valuesOf(schema: Schema, path: string): readonly unknown[] | undefined;
}

const COMMA = 'space "," space';

interface Property {
  readonly name: string;
  readonly schema: unknown;
  readonly path: string;
  isRequired: boolean;
}

/**
 * An object: named properties in their order, or any number of members where
 * none are named.
 */
export function objectExpression(schema: Schema, path: string, writer: SchemaWriter): string {
  const properties = propertiesOf(schema, path, writer);
  const inside =
    properties.length > 0
      ? members(counted(properties, schema, path), writer)
      : freeMembers(schema, path, writer);
  return `"{" space ${inside} space "}"`;
}

function propertiesOf(schema: Schema, path: string, writer: SchemaWriter): readonly Property[] {
  const required = new Set(namesAt(schema, 'required', path));
  const properties = objectAt(schema, 'properties', path);
  const rest = othersOf(schema);
  const keys = keysOf(schema, path, writer);
  const isOpen = rest !== false;
  const listed = Object.keys(properties).length === 0 && isOpen ? (keys.listed ?? []) : [];
  const names = new Set([...Object.keys(properties), ...required, ...listed]);
  return [...names].flatMap(name => {
    const isNamed = Object.hasOwn(properties, name);
    const isRequired = required.has(name);
    if (isNamed ? keys.allows(name) : isOpen && keys.allows(name)) {
      const [own, at] = isNamed
        ? [properties[name], `properties.${name}`]
        : [rest, 'additionalProperties'];
      return [{ name, schema: own, path: `${path}.${at}`, isRequired }];
    }
    if (isRequired)
      throw refused(`${path}.required`, `${shown(name)} is no property that may be there`);
    return [];
  });
}

/**
 * @returns `listed`: all names that there may be, if they are listed; `expression`: of a
 *   name that is not named by `properties`, as grammar
 */
function keysOf(
  schema: Schema,
  path: string,
  writer: SchemaWriter,
): ReturnType<StringRules['of']> & { readonly listed?: readonly string[] } {
  if (schema.propertyNames === undefined) return { expression: () => 'string', allows: () => true };
  const at = `${path}.propertyNames`;
  const names: Schema = { ...writer.resolved(schema.propertyNames, at), type: 'string' };
  for (const keyword of ['anyOf', 'oneOf', 'nullable'])
    if (names[keyword] !== undefined) throw refused(`${at}.${keyword}`, 'cannot be held for names');
  const listed = writer.valuesOf(names, at) as readonly string[] | undefined;
  return listed
    ? { listed, expression: () => '', allows: name => listed.includes(name) }
    : writer.strings.of(names, at);
}

/**
 * So many that both bounds are met: the first optional ones become required, the last
 * ones are left out.
 */
function counted(
  properties: readonly Property[],
  schema: Schema,
  path: string,
): readonly Property[] {
  const { least, most } = boundsOf(schema, ['minProperties', 'maxProperties'], path);
  const kept = [...properties];
  for (let at = kept.length - 1; at >= 0 && kept.length > most; at -= 1)
    if (!kept[at]!.isRequired) kept.splice(at, 1);
  if (kept.length > most)
    throw refused(`${path}.maxProperties`, `is ${most}; ${kept.length} are required`);
  if (kept.length < least)
    throw refused(`${path}.minProperties`, `is ${least}; ${kept.length} can be written`);
  let missing = least - kept.filter(({ isRequired }) => isRequired).length;
  for (const property of kept)
    if (!property.isRequired && missing-- > 0) property.isRequired = true;
  return kept;
}

/**
 * In order, with commas between those that are there. What follows one that may be left
 * out is written down once.
 */
function members(properties: readonly Property[], writer: SchemaWriter): string {
  const written = properties.map(({ name, schema, path, isRequired }) => ({
    text: `${literal(name)} space ":" space ${writer.rule(schema, path)}`,
    isRequired,
  }));
  let [some, isDemanded] = ['', false];
  for (const { text, isRequired } of written.toReversed()) {
    const more = isDemanded ? ` ${COMMA} ${some}` : ` (${COMMA} ${some})?`;
    const here = some === '' ? text : `${text}${more}`;
    some = isRequired || some === '' ? here : writer.rules.add(`${here} | ${some}`);
    isDemanded ||= isRequired;
  }
  return isDemanded || some === '' ? some : `(${some})?`;
}

/** The schema of members that `properties` does not name. */
const othersOf = ({ additionalProperties, unevaluatedProperties }: Schema): unknown =>
  additionalProperties ?? unevaluatedProperties ?? true;

/**
 * Only where no properties are named: a grammar cannot tell other keys from those, and
 * leaving others out is always valid.
 */
function freeMembers(schema: Schema, path: string, writer: SchemaWriter): string {
  const { least, most } = boundsOf(schema, ['minProperties', 'maxProperties'], path);
  const rest = othersOf(schema);
  const isClosed = rest === false || schema.properties !== undefined;
  if (least > (isClosed ? 0 : 1))
    throw refused(
      `${path}.minProperties`,
      `is ${least}; a grammar cannot keep names apart that it does not know`,
    );
  if (isClosed || most === 0) return '';
  const key = keysOf(schema, path, writer).expression();
  if (key === '') return '';
  const value = rest === true ? 'value' : writer.rule(rest, `${path}.additionalProperties`);
  const member = `${key} space ":" space ${value}`;
  const more =
    most === Infinity
      ? `(${COMMA} ${member})*`
      : writer.rules.repeated(`(${COMMA} ${member})`, { least: 0, most: most - 1 });
  return least === 1 ? `${member} ${more}` : `(${member} ${more})?`;
}

/** Values of a list whose items must differ: each may come once, in this order. */
const MOST_UNIQUE = 30;

export function arrayExpression(schema: Schema, path: string, writer: SchemaWriter): string {
  const bounds = boundsOf(schema, ['minItems', 'maxItems'], path);
  const { first, rest } = itemsOf(schema, path);
  if (schema.uniqueItems === true && bounds.most > 1)
    return `"[" space ${different(first.length === 0 ? rest : undefined, bounds, path, writer)} space "]"`;
  const fixed = first
    .slice(0, Math.min(first.length, bounds.most))
    .map(({ schema: item, path: at }) => writer.rule(item, at));
  const inside = listed(fixed, rest, bounds, path, writer);
  return `"[" space ${inside} space "]"`;
}

interface Item {
  readonly schema: unknown;
  readonly path: string;
}

/**
 * Both ways of writing a tuple: `prefixItems` with `items`, and a list in `items`
 * with `additionalItems`.
 */
function itemsOf(
  schema: Schema,
  path: string,
): { readonly first: readonly Item[]; readonly rest: Item } {
  const isOlder = Array.isArray(schema.items);
  const [list, rest] = isOlder ? ['items', 'additionalItems'] : ['prefixItems', 'items'];
  const first = schema[list] === undefined ? [] : schemaList(schema[list], `${path}.${list}`);
  return {
    first: first.map((item, index) => ({
      schema: item,
      path: `${path}.${list}[${index}]`,
    })),
    rest: {
      schema: schema[rest] === undefined ? true : schema[rest],
      path: `${path}.${rest}`,
    },
  };
}

/** The fixed items, and behind them any number of others that are alike. */
function listed(
  fixed: readonly string[],
  item: Item,
  { least, most }: Bounds,
  path: string,
  writer: SchemaWriter,
): string {
  const isClosed = item.schema === false;
  if (isClosed && least > fixed.length) {
    const allowed = fixed.length === 0 ? 'no item' : `${fixed.length} items`;
    throw refused(`${path}.minItems`, `is ${least}; ${allowed} may be there`);
  }
  if (isClosed || most <= fixed.length) return fixed.join(` ${COMMA} `);
  const one = writer.rule(item.schema, item.path);
  const first = fixed.length === 0 ? [one] : fixed;
  const more = writer.rules.repeated(`(${COMMA} ${one})`, {
    least: Math.max(0, least - first.length),
    most: most - first.length,
  });
  const list = `${first.join(` ${COMMA} `)} ${more}`;
  return fixed.length === 0 && least === 0 ? `${writer.rules.add(list)}?` : list;
}

/**
 * Items that differ: a grammar does not remember what it wrote, so they come in the order
 * of their list.
 */
function different(
  item: Item | undefined,
  { least, most }: Bounds,
  path: string,
  writer: SchemaWriter,
): string {
  const values = item && writer.valuesOf(writer.resolved(item.schema, item.path), item.path);
  if (values === undefined || values.length > MOST_UNIQUE)
    throw refused(
      `${path}.uniqueItems`,
      `can be held for items from a list of up to ${MOST_UNIQUE} values`,
    );
  const texts = [...new Set(values.map(literal))];
  if (texts.length < least)
    throw refused(`${path}.minItems`, `is ${least}; there are ${texts.length} values`);
  const known = new Map<string, string>();
  const from = (at: number, taken: number): string => {
    const key = `${at} ${taken}`;
    const name = known.get(key) ?? writer.rules.add();
    if (known.has(key)) return name;
    known.set(key, name);
    const last = texts.length - Math.max(1, least - taken);
    const options =
      taken >= most
        ? []
        : texts
            .slice(at, last + 1)
            .map(
              (text, index) =>
                `${taken === 0 ? '' : `${COMMA} `}${text} ${from(at + index + 1, taken + 1)}`,
            );
    writer.rules.set(name, [...options, ...(taken >= least ? ['""'] : [])].join(' | '));
    return name;
  };
  return from(0, 0);
}

import { literal, repeated } from './grammar-rules.js';
import { boundsOf, namesAt, objectAt, type Schema, shown } from './schema-fields.js';
import { refused } from './grammar-error.js';
import { type SchemaWriter } from './schema-writer.js';
import { stringDemands } from './string-rules.js';

export const COMMA = 'space "," space';

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
export function objectExpression(
  schema: Schema,
  path: string,
  writer: SchemaWriter,
): string {
  const properties = propertiesOf(schema, path, writer);
  const inside =
    properties.length > 0
      ? members(counted(properties, schema, path), writer)
      : freeMembers(schema, path, writer);
  return `"{" space ${inside} space "}"`;
}

function propertiesOf(
  schema: Schema,
  path: string,
  writer: SchemaWriter,
): readonly Property[] {
  const required = new Set(namesAt(schema, 'required', path));
  const properties = objectAt(schema, 'properties', path);
  const rest = othersOf(schema);
  const keys = keysOf(schema, path, writer);
  const isOpen = rest !== false;
  const listed =
    Object.keys(properties).length === 0 && isOpen ? (keys.listed ?? []) : [];
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
      throw refused(
        `${path}.required`,
        `${shown(name)} is no property that may be there`,
      );
    return [];
  });
}

interface Keys {
  /** All names that there may be, if they are listed. */
  readonly listed?: readonly string[];
  /** Of a name that is not named by `properties`, as grammar. */
  readonly expression: string;
  allows(name: string): boolean;
}

function keysOf(schema: Schema, path: string, writer: SchemaWriter): Keys {
  if (schema.propertyNames === undefined)
    return { expression: 'string', allows: () => true };
  const at = `${path}.propertyNames`;
  const names: Schema = { ...writer.resolved(schema.propertyNames, at), type: 'string' };
  for (const keyword of ['anyOf', 'oneOf', 'nullable'])
    if (names[keyword] !== undefined)
      throw refused(`${at}.${keyword}`, 'cannot be held for names');
  const listed = writer.valuesOf(names, at) as readonly string[] | undefined;
  if (listed) return { listed, expression: '', allows: name => listed.includes(name) };
  const demands = stringDemands(names, at);
  return {
    get expression() {
      return writer.strings.expression(demands);
    },
    allows: name => writer.strings.allows(name, demands),
  };
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

/** What members without a name of their own may be. */
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
  const key = keysOf(schema, path, writer).expression;
  if (key === '') return '';
  const value =
    rest === true ? 'value' : writer.rule(rest, `${path}.additionalProperties`);
  const member = `${key} space ":" space ${value}`;
  const more =
    most === Infinity
      ? `(${COMMA} ${member})*`
      : repeated(`(${COMMA} ${member})`, { least: 0, most: most - 1 }, writer.rules.add);
  return least === 1 ? `${member} ${more}` : `(${member} ${more})?`;
}

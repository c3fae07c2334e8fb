import { literal, repeated } from './grammar-rules.js';
import { COMMA } from './object-rules.js';
import { type Bounds, boundsOf, schemaList, type Schema } from './schema-fields.js';
import { refused } from './grammar-error.js';
import { type SchemaWriter } from './schema-writer.js';

/** Values of a list whose items must differ: each may come once, in this order. */
const MOST_UNIQUE = 30;

export function arrayExpression(
  schema: Schema,
  path: string,
  writer: SchemaWriter,
): string {
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
  const first =
    schema[list] === undefined ? [] : schemaList(schema[list], `${path}.${list}`);
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
  const more = repeated(
    `(${COMMA} ${one})`,
    { least: Math.max(0, least - first.length), most: most - first.length },
    writer.rules.add,
  );
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
  const values =
    item && writer.valuesOf(writer.resolved(item.schema, item.path), item.path);
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

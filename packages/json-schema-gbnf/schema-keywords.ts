/** Types of JSON values as a schema names them. */
export const JSON_TYPES = [
  'object',
  'array',
  'string',
  'number',
  'integer',
  'boolean',
  'null',
] as const;

interface Keyword {
  /**
   * enforced: no answer breaks it. annotation: changes nothing. refused: 400
   * `invalid_value` with its path.
   */
  readonly treatment: 'enforced' | 'annotation' | 'refused';
  /** Types of values that it restricts; absent: all. */
  readonly of?: readonly (typeof JSON_TYPES)[number][];
  /** How far it is enforced; absent: fully. */
  readonly note?: string;
}

type Types = Keyword['of'];

/** @param notes by keyword, how far it is enforced; undefined: fully */
const enforced = (
  notes: Readonly<Record<string, string | undefined>>,
  of?: Types,
): Readonly<Record<string, Keyword>> =>
  Object.fromEntries(
    Object.entries(notes).map(([name, note]) => [name, { treatment: 'enforced', note, of }]),
  );

const refused = (of: Types, ...names: readonly string[]) =>
  Object.fromEntries(names.map((name): [string, Keyword] => [name, { treatment: 'refused', of }]));

const ANNOTATION: Keyword = { treatment: 'annotation' };

const OBJECT = ['object'] as const;
const ARRAY = ['array'] as const;
const RANGE =
  'in plain decimals: whole numbers up to ±(2^53 - 1), others with up to 15 digits before the point and 10 behind it';

/**
 * What becomes of each keyword of a JSON schema. A keyword that is not listed is refused,
 * except those that begin with `x-`, which are annotations. The table in the engines'
 * README is made of this one (`npm run docs`).
 */
export const KEYWORDS: Readonly<Record<string, Keyword>> = {
  ...enforced({
    type: undefined,
    enum: undefined,
    const: undefined,
    $ref: 'into the schema itself, also recursive; keywords beside it hold as well',
    $defs: 'where `$ref` leads',
    definitions: 'where `$ref` leads',
    anyOf: undefined,
    oneOf: 'as `anyOf`: that only one of them holds is not checked',
    allOf: 'merged into one schema; what cannot be merged is refused',
    nullable: 'true: null may be written',
  }),
  ...enforced(
    {
      properties: 'written in their order; optional ones may be left out',
      required: undefined,
      additionalProperties: 'beside `properties`, no others are written',
      unevaluatedProperties: 'true or false',
      propertyNames: 'lists, lengths, patterns and formats',
      minProperties: 'without `properties`: 0 or 1',
      maxProperties: undefined,
    },
    OBJECT,
  ),
  ...enforced(
    {
      items: undefined,
      prefixItems: 'all of them are written, as far as `maxItems` allows',
      additionalItems: 'beside a list in `items`',
      minItems: 'up to 10,000',
      maxItems: 'up to 10,000',
      uniqueItems:
        'items of a list of up to 30 values, written in its order; at most one item otherwise',
    },
    ARRAY,
  ),
  ...enforced(
    {
      minLength: 'up to 10,000',
      maxLength: 'up to 10,000',
      pattern: 'regular ones with look-aheads; without look-behinds, back references, `\\b`, `\\p`',
    },
    ['string'],
  ),
  ...enforced({
    format: 'the formats below; an unknown one is refused, unless a `pattern` stands beside it',
  }),
  ...enforced(
    {
      minimum: RANGE,
      maximum: RANGE,
      exclusiveMinimum: RANGE,
      exclusiveMaximum: RANGE,
      multipleOf: 'divisors of a power of ten; others where up to 1000 values remain',
    },
    ['number', 'integer'],
  ),
  ...refused(OBJECT, 'patternProperties'),
  ...refused(ARRAY, 'unevaluatedItems', 'contains', 'minContains', 'maxContains'),
  ...refused(OBJECT, 'dependentRequired', 'dependentSchemas', 'dependencies'),
  ...refused(undefined, 'not', 'if', 'then', 'else', '$dynamicRef', '$recursiveRef'),
  ...Object.fromEntries(
    [
      '$schema',
      '$id',
      'id',
      '$anchor',
      '$dynamicAnchor',
      '$vocabulary',
      '$comment',
      'title',
      'description',
      'default',
      'example',
      'examples',
      'readOnly',
      'writeOnly',
      'deprecated',
      'discriminator',
      'strict',
      'contentEncoding',
      'contentMediaType',
      'contentSchema',
      'externalDocs',
      'xml',
    ].map(name => [name, ANNOTATION] as const),
  ),
};

export function keywordOf(name: string): Keyword {
  const known = Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name]! : undefined;
  return known ?? (name.startsWith('x-') ? ANNOTATION : { treatment: 'refused' });
}

/** Whether a keyword restricts no value, such as `title`. */
export const isAnnotation = (name: string): boolean => keywordOf(name).treatment === 'annotation';

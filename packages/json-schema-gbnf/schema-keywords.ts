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
  /** Types that it restricts; for others it says nothing. Absent: all. */
  readonly of?: readonly (typeof JSON_TYPES)[number][];
  /** How far it is held. */
  readonly note?: string;
}

const keyword =
  (treatment: Keyword['treatment']) =>
  (note?: string, of?: Keyword['of']): Keyword => ({ treatment, note, of });
const enforced = keyword('enforced');
const refused = keyword('refused');
const ANNOTATION: Keyword = { treatment: 'annotation' };

const OBJECT = ['object'] as const;
const ARRAY = ['array'] as const;
const STRING = ['string'] as const;
const NUMBER = ['number', 'integer'] as const;
const RANGE =
  'in plain decimals: whole numbers up to ±(2^53 - 1), others with up to 15 digits before the point and 10 behind it';

/**
 * What becomes of each keyword of a JSON schema. A keyword that is not listed is refused,
 * except those that begin with `x-`, which are annotations. The table in the engines'
 * README is made of this one (`npm run docs`).
 */
export const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: enforced(),
  enum: enforced(),
  const: enforced(),
  $ref: enforced(
    'into the schema itself, also recursive; keywords beside it hold as well',
  ),
  $defs: enforced('where `$ref` leads'),
  definitions: enforced('where `$ref` leads'),
  anyOf: enforced(),
  oneOf: enforced('as `anyOf`: that only one of them holds is not checked'),
  allOf: enforced('merged into one schema; what cannot be merged is refused'),
  nullable: enforced('true: null may be written'),
  properties: enforced('written in their order; optional ones may be left out', OBJECT),
  required: enforced(undefined, OBJECT),
  additionalProperties: enforced('beside `properties`, no others are written', OBJECT),
  unevaluatedProperties: enforced('true or false', OBJECT),
  propertyNames: enforced('lists, lengths, patterns and formats', OBJECT),
  minProperties: enforced('without `properties`: 0 or 1', OBJECT),
  maxProperties: enforced(undefined, OBJECT),
  items: enforced(undefined, ARRAY),
  prefixItems: enforced('all of them are written, as far as `maxItems` allows', ARRAY),
  additionalItems: enforced('beside a list in `items`', ARRAY),
  minItems: enforced('up to 10,000', ARRAY),
  maxItems: enforced('up to 10,000', ARRAY),
  uniqueItems: enforced(
    'items of a list of up to 30 values, written in its order; at most one item otherwise',
    ARRAY,
  ),
  minLength: enforced('up to 10,000', STRING),
  maxLength: enforced('up to 10,000', STRING),
  pattern: enforced(
    'regular ones with look-aheads; without look-behinds, back references, `\\b`, `\\p`',
    STRING,
  ),
  format: enforced(
    'the formats below; an unknown one is refused, unless a `pattern` stands beside it',
  ),
  minimum: enforced(RANGE, NUMBER),
  maximum: enforced(RANGE, NUMBER),
  exclusiveMinimum: enforced(RANGE, NUMBER),
  exclusiveMaximum: enforced(RANGE, NUMBER),
  multipleOf: enforced(
    'divisors of a power of ten; others where up to 1000 values remain',
    NUMBER,
  ),
  patternProperties: refused(undefined, OBJECT),
  unevaluatedItems: refused(undefined, ARRAY),
  contains: refused(undefined, ARRAY),
  minContains: refused(undefined, ARRAY),
  maxContains: refused(undefined, ARRAY),
  dependentRequired: refused(undefined, OBJECT),
  dependentSchemas: refused(undefined, OBJECT),
  dependencies: refused(undefined, OBJECT),
  not: refused(),
  if: refused(),
  then: refused(),
  else: refused(),
  $dynamicRef: refused(),
  $recursiveRef: refused(),
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

/** Says nothing about what is valid. */
export const isAnnotation = (name: string): boolean =>
  keywordOf(name).treatment === 'annotation';

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { demandBounded } from '@switchyard/json-schema-gbnf/gbnf-limits.js';
import { GrammarError } from '@switchyard/json-schema-gbnf/grammar-error.js';
import { schemaGrammar } from '@switchyard/json-schema-gbnf/json-schema-grammar.js';
import formats, { type FormatsPlugin } from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { GbnfSampler } from '../support/gbnf-sampler.js';

const SAMPLES = 60;
const ajv = new Ajv2020({ strict: false });
// Ajv divides in floating point, which is wrong from about 15 digits on: 94008326800764.3
// is a multiple of 0.1.
ajv.removeKeyword('multipleOf');
ajv.addKeyword({ keyword: 'multipleOf', type: 'number', validate: isMultiple });
(formats as unknown as FormatsPlugin)(ajv);
for (const name of [
  'base64',
  'cuid',
  'cuid2',
  'ulid',
  'nanoid',
  'e164',
  'cidrv4',
  'ends_with',
  'includes',
  'lowercase',
])
  ajv.addFormat(name, true);

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const isValid = (schema: object): ((value: unknown) => unknown) => ajv.compile(schema);

/** @returns texts that the grammar of `schema` lets through and `schema` does not */
function invalidSamples(
  schema: object,
  { seed = 1, samples = SAMPLES, validate = isValid(schema) } = {},
) {
  const grammar = schemaGrammar(schema, 'schema');
  demandBounded(grammar, 'schema');
  const sampler = new GbnfSampler(grammar, seeded(seed));
  const texts = Array.from({ length: samples }, () => sampler.sample());
  return texts.filter(text => !validate(JSON.parse(text)));
}

const zod = JSON.parse(readFileSync('test/fixtures/json-schemas/zod-4.json', 'utf8')) as Record<
  string,
  object
>;

describe('what a grammar lets through is valid under its schema', () => {
  it.each(Object.entries(zod))('zod 4: %s', (_, schema) => {
    expect(invalidSamples(schema)).toEqual([]);
  });

  it('zod 4: all in one object', () => {
    const schema = {
      type: 'object',
      properties: zod,
      required: Object.keys(zod),
      additionalProperties: false,
    };
    expect(invalidSamples(schema, { samples: 10 })).toEqual([]);
  });

  it.each<[string, object]>([
    [
      'pydantic: optional with a default',
      {
        anyOf: [{ type: 'integer', minimum: 3 }, { type: 'null' }],
        default: null,
        title: 'A',
      },
    ],
    [
      'pydantic: a discriminated union',
      {
        $defs: {
          Cat: {
            type: 'object',
            properties: {
              kind: { const: 'cat', type: 'string' },
              lives: { type: 'integer', maximum: 9, minimum: 0 },
            },
            required: ['kind', 'lives'],
          },
          Dog: {
            type: 'object',
            properties: { kind: { const: 'dog', type: 'string' } },
            required: ['kind'],
          },
        },
        discriminator: {
          mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' },
          propertyName: 'kind',
        },
        oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
      },
    ],
    [
      'instructor: allOf with one reference and a description',
      {
        type: 'object',
        properties: {
          at: { allOf: [{ $ref: '#/definitions/P' }], description: 'x', default: {} },
        },
        required: ['at'],
        definitions: {
          P: {
            type: 'object',
            properties: { x: { type: 'number', minimum: -1, maximum: 1 } },
            required: ['x'],
          },
        },
      },
    ],
    [
      'a set of a list',
      {
        type: 'array',
        uniqueItems: true,
        minItems: 2,
        items: { enum: ['a', 'b', 'c', 'd'] },
      },
    ],
    [
      'a bounded set',
      {
        type: 'array',
        uniqueItems: true,
        maxItems: 2,
        items: { enum: [1, 2, 3, 4, 5] },
      },
    ],
    [
      'a reference with keywords beside it',
      {
        $ref: '#/$defs/s',
        maxLength: 4,
        $defs: { s: { type: 'string', minLength: 2 } },
      },
    ],
    ['a pattern with lengths', { type: 'string', pattern: '^[a-z]+$', minLength: 3, maxLength: 5 }],
    ['a pattern that is not anchored', { type: 'string', pattern: '[0-9]{2}"\\\\' }],
    ['a look-ahead', { type: 'string', pattern: '^(?!admin)(?=.*\\d)[a-z0-9]{3,9}$' }],
    ['negated classes', { type: 'string', pattern: '^[^\\s"\\\\]{1,5}\\S\\W.$' }],
    ['an email of one host', { type: 'string', format: 'email', pattern: '@example\\.com$' }],
    [
      'maps with bounds',
      {
        type: 'object',
        additionalProperties: { type: 'boolean' },
        minProperties: 1,
        maxProperties: 3,
      },
    ],
    [
      'named with bounds',
      {
        type: 'object',
        properties: { a: {}, b: {}, c: {} },
        minProperties: 2,
        maxProperties: 2,
      },
    ],
    [
      'names by pattern',
      {
        type: 'object',
        propertyNames: { pattern: '^k[0-9]$' },
        additionalProperties: { type: 'integer' },
      },
    ],
    [
      'anyOf beside properties',
      {
        type: 'object',
        properties: { a: { type: 'null' }, b: { type: 'null' } },
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      },
    ],
    ['a type for each keyword', { minimum: 3, minLength: 2, maxItems: 1 }],
    [
      'an older tuple',
      {
        type: 'array',
        items: [{ type: 'null' }, { type: 'boolean' }],
        additionalItems: { type: 'integer', multipleOf: 25 },
        minItems: 4,
      },
    ],
    [
      'a closed object in allOf',
      {
        allOf: [
          {
            type: 'object',
            properties: { a: { type: 'integer' } },
            additionalProperties: false,
          },
          { properties: { a: { maximum: 3 }, b: {} } },
        ],
      },
    ],
    [
      'types with the same keywords',
      { type: ['string', 'integer', 'null'], minLength: 2, maximum: 3, pattern: '^a' },
    ],
    [
      'a recursive tree',
      {
        $ref: '#/$defs/n',
        $defs: {
          n: {
            type: 'object',
            properties: {
              v: { type: 'integer', minimum: 1 },
              next: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] },
            },
            required: ['v', 'next'],
          },
        },
      },
    ],
  ])('%s', (_, schema) => {
    // Lists in `items` are of an older draft.
    const older = 'additionalItems' in schema;
    expect(invalidSamples(schema, older ? { validate: olderTuple } : {})).toEqual([]);
  });

  it.each([
    'date',
    'time',
    'date-time',
    'duration',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uri',
    'uuid',
  ])('format %s', format =>
    expect(invalidSamples({ type: 'string', format }, { samples: 400 })).toEqual([]),
  );

  const bound = fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.maxSafeInteger(),
    fc.double({ min: -1e4, max: 1e4, noNaN: true }).map(value => Number(value.toFixed(3))),
  );
  const numbers = fc.record(
    {
      minimum: bound,
      maximum: bound,
      exclusiveMinimum: bound,
      exclusiveMaximum: bound,
      multipleOf: fc.constantFrom(1, 2, 5, 10, 25, 100, 0.5, 0.1, 0.01, 3, 7, 60, 625),
    },
    { requiredKeys: [] },
  );

  it('numbers within any bounds', () => {
    let held = 0;
    fc.assert(
      fc.property(
        numbers,
        fc.constantFrom('number', 'integer'),
        fc.integer(),
        (keywords, type, seed) => {
          try {
            expect(invalidSamples({ type, ...keywords }, { seed, samples: 30 })).toEqual([]);
            held += 1;
          } catch (error) {
            // Bounds that leave nothing, and steps that no power of ten is a multiple of.
            if (!(error instanceof GrammarError)) throw error;
            expect(error.param).toMatch(/^schema\.(minimum|maximum|exclusiveM|multipleOf)/);
          }
        },
      ),
      { numRuns: 300 },
    );
    expect(held).toBeGreaterThan(20);
  });
});

const olderTuple = (value: unknown) => {
  const [first, second, ...rest] = value as unknown[];
  const isMultiple = (one: unknown) => typeof one === 'number' && one % 25 === 0;
  return (
    first === null && typeof second === 'boolean' && rest.length >= 2 && rest.every(isMultiple)
  );
};

function isMultiple(step: number, value: number) {
  const decimals = Math.max(decimalsOf(step), decimalsOf(value));
  return scaled(value, decimals) % scaled(step, decimals) === 0n;
}

function decimalsOf(value: number) {
  return inFull(value).split('.')[1]?.length ?? 0;
}

function scaled(value: number, decimals: number): bigint {
  const [whole, fraction = ''] = inFull(value).split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** `1e-7` and `1e+21` written out. */
function inFull(value: number) {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [digits, exponent] = text.split('e') as [string, string];
  return Number(exponent) < 0
    ? value.toFixed(digits.length - Number(exponent))
    : String(BigInt(value));
}

import { describe, expect, it } from '@jest/globals';
import { demandBounded } from './gbnf-limits.js';
import { anyObjectGrammar } from './grammar-rules.js';
import { schemaGrammar } from './json-schema-grammar.js';

const root = (schema: object) => /^root ::= (.*)$/m.exec(schemaGrammar(schema, 'schema'))![1]!;
const rule = (schema: object, name: string) =>
  new RegExp(`^${name} ::= (.*)$`, 'm').exec(schemaGrammar(schema, 'schema'))![1]!;

describe('schemaGrammar', () => {
  it('writes properties in their order, and lets optional ones be left out', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'null' }, b: { type: 'boolean' } },
      required: ['a'],
    };
    expect(root(schema)).toBe(
      '"{" space "\\"a\\"" space ":" space r1 (space "," space "\\"b\\"" space ":" space r2)? space "}"',
    );
    expect(rule(schema, 'r2')).toBe('boolean');
    expect(root({ ...schema, required: ['b'] })).toBe('"{" space r3 space "}"');
    expect(rule({ ...schema, required: ['b'] }, 'r3')).toBe(
      '"\\"a\\"" space ":" space r1 space "," space "\\"b\\"" space ":" space r2 | "\\"b\\"" space ":" space r2',
    );
    expect(root({ ...schema, required: [] })).toBe('"{" space (r3)? space "}"');
  });

  it.each([
    [{ const: 'a"b' }, '"\\"a\\\\\\"b\\""'],
    [{ enum: [1, null] }, '("1" | "null")'],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, '(integer | string)'],
    [{ type: ['string', 'null'], maxLength: 3 }, '("\\"" char{0,3} "\\"" | null)'],
    [
      { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
      '"[" space r1 (space "," space r1){1,1} space "]"',
    ],
    [
      { type: 'object' },
      '"{" space (string space ":" space value (space "," space string space ":" space value)*)? space "}"',
    ],
    [{}, 'value'],
  ])('of %j', (schema, text) => {
    expect(root(schema)).toBe(text);
  });

  it('follows references, also to itself', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    expect(schemaGrammar({ $ref: '#/$defs/node', $defs: { node } }, 'schema')).toMatch(/r2 ::= r1/);
  });

  it.each([
    [{ type: 'number', minimum: 'a' }, 'schema.minimum'],
    [{ type: 'integer', minimum: 5, maximum: 4 }, 'schema.maximum'],
    [{ type: 'integer', multipleOf: 7 }, 'schema.multipleOf'],
    [{ type: 'string', pattern: '(a)\\1' }, 'schema.pattern'],
    [{ type: 'string', pattern: '^(a|b)*a(a|b){20}$' }, 'schema.pattern'],
    [{ type: 'string', pattern: '^a$', minLength: 2 }, 'there is no text that meets all'],
    [{ type: 'string', format: 'email', pattern: '^[a-z]+$' }, 'there is no text that meets all'],
    [{ type: 'array', items: { type: 'string' }, uniqueItems: true }, 'schema.uniqueItems'],
    [{ type: 'object', patternProperties: {} }, 'schema.patternProperties'],
    [{ not: {} }, 'schema.not'],
    [{ type: 'string', minimun: 3 }, 'schema.minimun'],
    [{ allOf: [{ type: 'string' }, { type: 'integer' }] }, 'have no value in common'],
    [
      { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, {}] } } },
      'lead from one to the next',
    ],
    [{ type: 'thing' }, 'schema.type'],
    [{ $ref: 'https://example.com' }, 'schema.$ref'],
    [{ $ref: '#/nowhere' }, 'leads nowhere'],
    [
      { type: 'object', properties: { a: { type: 'string', format: 'regex' } } },
      'schema.properties.a.format',
    ],
    [
      { type: 'object', properties: {}, required: ['a'], additionalProperties: false },
      '"a" is no property',
    ],
    [{ $ref: '#/__proto__' }, 'leads nowhere'],
    [
      { type: 'object', properties: { a: { type: [] } } },
      '`schema.properties.a.type`: must be a list of at least one',
    ],
    [
      { type: 'string', minLength: 5, maxLength: 2 },
      '`schema.maxLength`: is 2, less than `minLength`, which is 5',
    ],
    [
      { type: 'array', items: {}, minItems: 3, maxItems: 2 },
      '`schema.maxItems`: is 2, less than `minItems`',
    ],
    [
      { type: 'string', maxLength: 20_000 },
      '`schema.maxLength`: must be a whole number from 0 to 10000; got 20000',
    ],
    [{ type: 'object', required: 5 }, '`schema.required`: must be a list of names; got 5'],
    [{ type: 'object', properties: null }, '`schema.properties`: must be an object; got null'],
    [{ type: 'array', items: null }, '`schema.items`: a schema is an object or true; got null'],
    [{ $ref: '#/$defs/a', $defs: { a: { type: 'thing' } } }, '`schema.$defs.a.type`'],
    [
      { enum: Array.from({ length: 20_000 }, (_, at) => at) },
      '`schema.enum`: has 20000 members; at most 1000',
    ],
  ])('refuses %j, naming the place', (schema, place) => {
    expect(() => schemaGrammar(schema, 'schema')).toThrow(
      expect.objectContaining({ message: expect.stringContaining(place) }),
    );
  });
});

describe('a schema that multiplies', () => {
  const nested = (depth: number): object =>
    depth === 0
      ? { type: 'null' }
      : { type: ['object', 'object', 'object', 'object'], properties: { a: nested(depth - 1) } };

  it('by `type: ["object" ×4]` nested 150 deep is written once per level', () => {
    expect(schemaGrammar(nested(150), 'schema').split('\n').length).toBeLessThan(200);
  });

  it('by depth is refused, naming path and bound', () => {
    expect(() => schemaGrammar(nested(300), 'schema')).toThrow(
      /^`schema\.properties\.a.*at most 200 deep/,
    );
  });

  it.each(['allOf', 'anyOf'])(
    'by references of references in %s is written once, or refused',
    keyword => {
      const link = (at: number): object => ({ $ref: `#/$defs/d${at + 1}` });
      const $defs = Object.fromEntries(
        Array.from({ length: 40 }, (_, at) => [
          `d${at}`,
          { [keyword]: [link(at), link(at)], minimum: at },
        ]),
      );
      const write = () =>
        schemaGrammar(
          { $ref: '#/$defs/d0', $defs: { ...$defs, d40: { type: 'integer' } } },
          'schema',
        );
      if (keyword === 'allOf') expect(write().length).toBeLessThan(2000);
      else expect(write).toThrow(/more than (10000 schemas|500000 characters)/);
    },
  );

  it('by size is refused while it is written', () => {
    const schema = { enum: Array.from({ length: 1000 }, () => 'x'.repeat(2000)) };
    expect(() => schemaGrammar(schema, 'schema')).toThrow(
      'it comes to more than 500000 characters of grammar',
    );
  });
});

describe('keywords', () => {
  it('change nothing where they are annotations, or about other types', () => {
    const notes = {
      title: 'a',
      deprecated: true,
      readOnly: true,
      'x-order': 3,
      discriminator: { propertyName: 'a' },
    };
    expect(root({ type: 'boolean', ...notes, minimum: 3, pattern: 'x', uniqueItems: true })).toBe(
      'boolean',
    );
  });

  it('of numbers are digits: the bounds that zod writes for every integer', () => {
    const safe = { minimum: -9007199254740991, maximum: 9007199254740991 };
    expect(root({ type: 'integer', ...safe }).length).toBeLessThan(2000);
  });
});

describe('repetitions', () => {
  it.each([
    [{ maxLength: 2000 }, 'char{0,2000}'],
    [{ minLength: 2500, maxLength: 2500 }, 'char{1000} char{1500,1500}'],
    [{ minLength: 4000 }, 'char{1000} char{1000} char{1000} char{1000,}'],
  ])('of %j stay below the bound that llama.cpp drops', (lengths, text) => {
    expect(root({ type: 'string', ...lengths })).toBe(`"\\"" ${text} "\\""`);
  });

  it('of many are pieces, and what is less than one', () => {
    const schema = { type: 'string', maxLength: 2500 };
    expect(root(schema)).toBe('"\\"" char{0} r2 "\\""');
    expect(rule(schema, 'r2')).toBe('char{1000} r1 | char{0,999}');
    expect(rule(schema, 'r1')).toBe('char{1000} char{0,500} | char{0,999}');
  });
});

describe('a schema of many optional properties', () => {
  it('is written in one rule each', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 900 }, (_, at) => [`p${at}`, { type: 'boolean' }]),
    );
    const grammar = schemaGrammar({ type: 'object', properties }, 'schema');
    expect(grammar.length).toBeLessThan(900 * 150);
    expect(() => demandBounded(grammar, 'schema')).not.toThrow();
  });
});

describe('anyObjectGrammar', () => {
  it('is an object of anything', () => expect(anyObjectGrammar()).toMatch(/^root ::= object$/m));
});

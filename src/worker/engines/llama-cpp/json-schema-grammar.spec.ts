import { describe, expect, it } from '@jest/globals';
import { anyObjectGrammar, schemaGrammar } from './json-schema-grammar.js';

const root = (schema: object): string => /^root ::= (.*)$/m.exec(schemaGrammar(schema))![1]!;
const rule = (schema: object, name: string): string =>
  new RegExp(`^${name} ::= (.*)$`, 'm').exec(schemaGrammar(schema))![1]!;

describe('schemaGrammar', () => {
  it('writes properties in their order, and lets optional ones be left out', () => {
    const schema = { type: 'object', properties: { a: { type: 'null' }, b: { type: 'boolean' } }, required: ['a'] };
    expect(root(schema)).toBe(
      '"{" space "\\"a\\"" space ":" space r1 (space "," space "\\"b\\"" space ":" space r2)? space "}"',
    );
    expect(root({ ...schema, required: ['b'] })).toContain('|');
    expect(rule(schema, 'r2')).toBe('boolean');
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
    expect(schemaGrammar({ $ref: '#/$defs/node', $defs: { node } })).toMatch(/r2 ::= r1/);
  });

  it.each([
    [{ type: 'number', minimum: 1 }, 'schema.minimum'],
    [{ type: 'string', pattern: 'x' }, 'schema.pattern'],
    [{ type: 'thing' }, 'schema.type'],
    [{ $ref: 'https://example.com' }, 'schema.$ref'],
    [{ $ref: '#/nowhere' }, 'leads nowhere'],
    [{ type: 'object', properties: { a: { type: 'string', format: 'date' } } }, 'schema.properties.a.format'],
    [{ type: 'object', properties: {}, required: ['a'] }, 'a is no property'],
  ])('refuses %j, naming the place', (schema, place) => {
    expect(() => schemaGrammar(schema)).toThrow(
      expect.objectContaining({ code: 'invalid_value', message: expect.stringContaining(place) }),
    );
  });
});

describe('anyObjectGrammar', () => {
  it('is an object of anything', () => expect(anyObjectGrammar()).toMatch(/^root ::= object$/m));
});

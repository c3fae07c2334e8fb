import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { valuesIn, jsonOf, withJsonFields, withoutJsonField } from './json-fields.js';

const edited = (json: string, fields: Record<string, unknown>) =>
  withJsonFields(Buffer.from(json), fields).toString();

describe('withJsonFields', () => {
  it('replaces a value and leaves every other byte: digits beyond 2^53, order, spaces, escapes', () => {
    const before =
      '{ "seed" : 12345678901234567890,\n "model":"a", "x":1.0e2, "caf\\u00e9":"\\"model\\":\\\\" }';
    expect(edited(before, { model: 'b/c' })).toBe(before.replace('"a"', '"b/c"'));
  });

  it('touches the field of the object itself, not one of the same name inside', () => {
    const before = '{"tools":[{"model":"x"},"}]"],"model":null,"meta":{"model":1}}';
    expect(edited(before, { model: 'm' })).toBe(
      '{"tools":[{"model":"x"},"}]"],"model":"m","meta":{"model":1}}',
    );
  });

  it('knows a name however it is escaped; of a doubled one the last is set, as parsers take that', () => {
    expect(edited('{"model":"a","mod\\u0065l":"b"}', { model: 'm' })).toBe(
      '{"model":"a","mod\\u0065l":"m"}',
    );
  });

  it('adds what is not there at the end', () => {
    expect(edited('{"a":1}', { model: 'm', tier: null })).toBe('{"a":1,"model":"m","tier":null}');
    expect(edited(' {} ', { model: 'm' })).toBe(' {"model":"m"} ');
  });

  it('agrees with a parser on any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (object, spread) => {
        const json = Buffer.from(JSON.stringify(object, null, spread ? 2 : 0));
        const parsed: unknown = JSON.parse(
          withJsonFields(json, { model: 'é"\\', b: [1] }).toString(),
        );
        expect(parsed).toEqual({
          ...(JSON.parse(json.toString()) as object),
          model: 'é"\\',
          b: [1],
        });
      }),
    );
  });
});

describe('withoutJsonField', () => {
  const without = (json: string): string => withoutJsonField(Buffer.from(json), 'p').toString();

  it.each([
    ['{"p":1}', '{}'],
    ['{"p":1,"a":12345678901234567890}', '{"a":12345678901234567890}'],
    ['{"a":1.0 , "p" : {"p":[1,2]} }', '{"a":1.0 }'],
    ['{"p":1,"p":2,"a":3,"\\u0070":4}', '{"a":3}'],
    ['{"a":{"p":1},"b":"\\"p\\":1"}', '{"a":{"p":1},"b":"\\"p\\":1"}'],
  ])('of %s leaves %s', (json, rest) => {
    expect(without(json)).toBe(rest);
  });

  it('agrees with a parser on any members in any order, some of them given twice', () => {
    const member = fc.tuple(fc.constantFrom('p', 'a', 'b', 'c'), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(member), fc.constantFrom('', ' ', '\n'), (members, blank) => {
        const text = members.map(([name, value]) =>
          ['', JSON.stringify(name), ':', JSON.stringify(value), ''].join(blank),
        );
        const json = `{${text.join(',') || blank}}`;
        const { p: _, ...others } = JSON.parse(json) as Record<string, unknown>;
        expect(JSON.parse(without(json))).toEqual(others);
      }),
    );
  });
});

it('some fields are read, whatever is around them', () => {
  const event = '{"a":{"id":0},"response":{"tools":[{"id":1}],"id":"r","output":[{"id":2}]}}';
  const response = jsonOf(Buffer.from(event), 'response')!;
  const read = valuesIn(response, ['id', 'output', 'store']);
  expect(read).toEqual({ id: 'r', output: [{ id: 2 }] });
  expect(jsonOf(response, 'store')).toBeUndefined();
});

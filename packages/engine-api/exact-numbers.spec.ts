import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JSON_NUMBER } from '../../test/support/json-number.js';
import { parseBoundedJson } from './bounded-json.js';
import { jsonAt, withDigits, writeJson } from './exact-numbers.js';

const again = (json: string) => writeJson(parseBoundedJson(json));

describe('numbers of foreign JSON', () => {
  it.each([
    '1234567890123456789',
    '-9007199254740993',
    '1.0',
    '-0',
    '1e400',
    '-1E-400',
    '0.1234567890123456789012345',
    '123456789012345678901234567890',
    '1e5',
    '0.10',
  ])('%s is written as it came, in lists and in objects', digits => {
    for (const json of [`[1,${digits},"x"]`, `{"a":{"b":[${digits}]},"c":${digits}}`])
      expect(again(json)).toBe(json);
    const { a } = parseBoundedJson(`{"a": ${digits} }`) as { a: number };
    expect(a).toBe(Number(digits));
  });

  it('stay in copies of their object, and give way to another value', () => {
    const read = parseBoundedJson('{"a":1.0,"b":9007199254740993}') as Record<string, number>;
    expect(writeJson({ ...read, a: 2 })).toBe('{"a":2,"b":9007199254740993}');
    expect(jsonAt(read, 'b')).toBe('9007199254740993');
    expect(withDigits(read, digits => `<${digits}>`)).toMatchObject({
      a: '<1.0>',
      b: '<9007199254740993>',
    });
  });

  it('are not looked for in texts and names, and repair no JSON that is none', () => {
    expect(again('{"1.0":"1.0 9007199254740993"}')).toBe('{"1.0":"1.0 9007199254740993"}');
    for (const broken of [
      '{1.0:2}',
      '[01.0]',
      '[1.0.0]',
      '[1.]',
      '[--1.0]',
      '[1.0 1]',
      'x1.0',
      '+1.0',
    ])
      expect(() => parseBoundedJson(broken)).toThrow(SyntaxError);
  });

  it('count as fields', () => {
    const many = `[${'1.0,'.repeat(100_001)}1]`;
    expect(() => parseBoundedJson(many)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
  });

  const { json: JSON_TEXT } = fc.letrec<{ json: string }>(tie => ({
    json: fc.oneof(
      { maxDepth: 4 },
      JSON_NUMBER,
      fc.string().map(text => JSON.stringify(text)),
      fc.array(tie('json')).map(items => `[${items.join(',')}]`),
      fc
        .uniqueArray(fc.stringMatching(/^[a-z][a-z0-9.]{0,5}$/))
        .chain(names => fc.tuple(...names.map(name => fc.tuple(fc.constant(name), tie('json')))))
        .map(pairs => `{${pairs.map(([name, json]) => `"${name}":${json}`).join(',')}}`),
    ),
  }));
  it('of any JSON come out as they went in', () => {
    fc.assert(fc.property(JSON_TEXT, json => again(`[${json}]`) === `[${json}]`));
  });
});

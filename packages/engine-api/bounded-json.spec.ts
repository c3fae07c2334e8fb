import { describe, expect, it } from '@jest/globals';
import { BODY_BOUNDS, jsonExcess, parseBoundedJson } from './bounded-json.js';

const WIDE = { levels: 9, nodes: 1000, entries: 1000 };
const levels = (json: string, limit: number): string | undefined =>
  jsonExcess(json, { ...WIDE, levels: limit });
const nested = (count: number) => '[{"a":'.repeat(count / 2) + '1' + '}]'.repeat(count / 2);
const padded = (json: string) => `{"text":"${'x'.repeat(100)}","json":${json}}`;

describe('levels', () => {
  it('are lists and objects inside one another, whatever is beside them', () => {
    expect(levels(padded(nested(8)), 9)).toBeUndefined();
    expect(levels(padded(nested(10)), 9)).toBe('is nested deeper than 9 levels');
    expect(levels(padded(`[${'[],{},'.repeat(50)}[]]`), 3)).toBeUndefined();
  });

  it.each([
    ['brackets', '"[[[[[[{{{{{{"'],
    ['an escaped quote', String.raw`"\"[[[[[["`],
    ['an escaped quote after 16 characters', String.raw`"0123456789abcdef\"[[[[[[\\\"[[[[[[["`],
    ['backslashes before its end', String.raw`["\\",[["\\\"[[[[[["]]]]`],
  ])('leave a text with %s alone', (_title, json) => {
    expect(levels(padded(json), 4)).toBeUndefined();
  });

  it.each([0, 1, 2, 14, 15, 16, 17, 18, 31, 32, 33])(
    'go on after a text of %i characters and a backslash',
    length => {
      for (const slashes of [1, 2, 3, 4, 5]) {
        const text = JSON.stringify('x'.repeat(length) + '\\'.repeat(slashes));
        expect(levels(`{"a":${text},"b":[[[[[1]]]]]}`, 4)).toBeDefined();
        expect(levels(`{"a":${text},"b":[1]}`, 4)).toBeUndefined();
      }
    },
  );

  it('bear a text without end and brackets that close nothing', () => {
    expect(levels(`${'x'.repeat(20)}"[[[[[[`, 4)).toBeUndefined();
    expect(levels(`${']'.repeat(20)}[[[`, 4)).toBeUndefined();
  });
});

describe('nodes and entries', () => {
  it('count objects, lists and fields, and not what a text holds', () => {
    const bounds = { ...WIDE, nodes: 7 };
    expect(jsonExcess('{"a":[{},[]],"b":{":,{":1}}', bounds)).toBe(
      'has more than 7 objects, lists and fields',
    );
    expect(jsonExcess('{"a":[{},[]],"b":":::,,,{{{"}', bounds)).toBeUndefined();
  });

  it('let a million tokens pass and no more', () => {
    const tokens = (count: number) => `{"input":[${'7,'.repeat(count - 2)}7]}`;
    expect(jsonExcess(tokens(1_000_000), BODY_BOUNDS)).toBeUndefined();
    expect(jsonExcess(tokens(1_000_003), BODY_BOUNDS)).toBe('has more than 1000000 entries');
  });

  it('end the pass at the first excess', () => {
    const text = `${'{},'.repeat(200)}`;
    let looked = 0;
    const counted = {
      length: text.length,
      charCodeAt: (at: number) => ((looked += 1), text.charCodeAt(at)),
      indexOf: () => -1,
    } as unknown as string;
    expect(jsonExcess(counted, { ...WIDE, nodes: 10 })).toBeDefined();
    expect(looked).toBeLessThan(40);
  });
});

it('parseBoundedJson parses what is within, and refuses the rest before it is parsed', () => {
  expect(parseBoundedJson('{"a":[1]}')).toEqual({ a: [1] });
  expect(() => parseBoundedJson('['.repeat(300))).toThrow(
    expect.objectContaining({ code: 'invalid_json' }),
  );
  expect(() => parseBoundedJson('{')).toThrow(SyntaxError);
});

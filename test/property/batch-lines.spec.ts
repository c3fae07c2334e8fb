import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairShare } from '../../src/core/jobs/fair-share.js';
import { valueSpans } from '../../src/core/jobs/line-span.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const valueSpan = (json: Uint8Array, key: string) => valueSpans(json, [key])[key];

describe('A body inside a batch line', () => {
  const pretty = fc.constantFrom(undefined, 1, '\t');

  it('is found byte for byte among any neighbours, in any layout', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue(),
        pretty,
        (others, body, space) => {
          const line = bytes(JSON.stringify({ ...others, body }, null, space));
          const span = valueSpan(line, 'body')!;
          expect(JSON.parse(new TextDecoder().decode(line.subarray(span.start, span.end)))).toEqual(
            JSON.parse(JSON.stringify(body)),
          );
        },
      ),
    );
  });

  it.each([
    [
      'digits above 2^53',
      '{"body": {"seed": 12345678901234567890}, "z": 1}',
      '{"seed": 12345678901234567890}',
    ],
    ['blanks and the order of keys', '{"body" : { "b":1 ,"a": 2.0 } }', '{ "b":1 ,"a": 2.0 }'],
    ['an escaped key', String.raw`{"bo\u0064y":{"a":"}\"{"}}`, String.raw`{"a":"}\"{"}`],
    ['the last of two', '{"body":1,"body":2}', '2'],
    ['a scalar at the end', '{"a":[],"body":null}', 'null'],
  ])('keeps %s', (_, line, body) => {
    const span = valueSpan(bytes(line), 'body')!;
    expect(line.slice(span.start, span.end)).toBe(body);
  });

  it('ends where it ends, wherever in a string an escape stands', () => {
    for (let length = 0; length < 140; length++) {
      for (const text of ['\\', '"', '\\"', '"\\', '\\\\"']) {
        const body = JSON.stringify({
          [`k${'x'.repeat(length)}${text}`]: `${'x'.repeat(length)}${text}`,
        });
        const line = bytes(`{"a":${body},"body":${body},"b":${body}}`);
        const { start, end } = valueSpan(line, 'body')!;
        expect(new TextDecoder().decode(line.subarray(start, end))).toBe(body);
      }
    }
  });

  it('is found together with others in one pass, absent keys left out', () => {
    const { a, body, none } = valueSpans(bytes('{"body":{"a":2},"a":1}'), ['a', 'body', 'none']);
    expect([a, body, none]).toEqual([{ start: 20, end: 21 }, { start: 8, end: 15 }, undefined]);
  });

  it('is undefined when only something deeper has that name', () => {
    expect(valueSpan(bytes('{"a":{"body":1},"b":["body"]}'), 'body')).toBeUndefined();
  });
});

describe('FairShare over any lanes', () => {
  const lanes = fc.uniqueArray(
    fc.record({
      tenant: fc.constantFrom('a', 'b', 'c'),
      name: fc.integer({ min: 0, max: 9 }),
    }),
    {
      selector: ({ tenant, name }) => `${tenant}/${name}`,
      minLength: 1,
    },
  );

  it('is work conserving, and tenants never drift apart by more than one turn', () => {
    fc.assert(
      fc.property(lanes, fc.integer({ min: 1, max: 200 }), (chosen, turns) => {
        const share = new FairShare();
        for (const { tenant, name } of chosen)
          share.put({ key: `${tenant}/${name}`, tenant, weight: 1 + (name % 3) });
        const counts = new Map<string, number>(chosen.map(({ tenant }) => [tenant, 0]));
        for (let turn = 0; turn < turns; turn++) {
          const key = share.next(() => true);
          expect(key).toBeDefined();
          const [tenant] = key!.split('/');
          counts.set(tenant!, counts.get(tenant!)! + 1);
        }
        expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(1);
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { isDeeperThan } from './json-depth.js';

const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);
const padded = (json: string): Buffer => Buffer.from(`{"text":"${'x'.repeat(100)}","json":${json}}`);

describe('isDeeperThan', () => {
  it('counts lists and objects inside one another, whatever is beside them', () => {
    expect(isDeeperThan(padded(nested(8)), 9)).toBe(false);
    expect(isDeeperThan(padded(nested(10)), 9)).toBe(true);
    expect(isDeeperThan(padded(`[${'[],{},'.repeat(50)}[]]`), 3)).toBe(false);
  });

  it.each([
    ['brackets', '"[[[[[[{{{{{{"'],
    ['an escaped quote', String.raw`"\"[[[[[["`],
    ['backslashes before its end', String.raw`["\\",[["\\\"[[[[[["]]]`],
  ])('leaves a string with %s alone', (_title, json) => {
    expect(isDeeperThan(padded(json), 4)).toBe(false);
  });

  it('goes on after a string that ends with a backslash', () => {
    expect(isDeeperThan(padded(String.raw`["\\",[[[[1]]]]]`), 4)).toBe(true);
  });

  it('bears a string without end and brackets that close nothing', () => {
    expect(isDeeperThan(Buffer.from(`${'x'.repeat(20)}"[[[[[[`), 4)).toBe(false);
    expect(isDeeperThan(Buffer.from(`${']'.repeat(20)}[[[`), 4)).toBe(false);
  });
});

import { describe, expect, it } from '@jest/globals';
import { RecentMap } from './recent-map.js';

describe('RecentMap', () => {
  it('keeps the latest three of four when it may keep three', () => {
    const map = new RecentMap<number>(3);
    ['a', 'b', 'c', 'd'].forEach((key, n) => map.add(key, n));
    expect([...map.values()]).toEqual([1, 2, 3]);
    expect([map.size, map.get('a'), map.get('d')]).toEqual([3, undefined, 3]);
  });

  it('moves a key that comes again to the young end', () => {
    const map = new RecentMap<number>(2);
    ['a', 'b', 'a', 'c'].forEach((key, n) => map.add(key, n));
    expect([...map.values()]).toEqual([2, 3]);
  });

  it('drops the oldest until one may stay', () => {
    const map = new RecentMap<number>(9);
    ['a', 'b', 'c', 'd'].forEach((key, n) => map.add(key, n));
    expect(map.dropWhile(n => n < 2 || n === 3)).toBe(2);
    expect([...map.values()]).toEqual([2, 3]);
    expect(map.dropWhile(() => true)).toBe(2);
    expect([map.size, map.dropWhile(() => true)]).toEqual([0, 0]);
  });
});

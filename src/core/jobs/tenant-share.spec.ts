import { describe, expect, it } from '@jest/globals';
import { tenantToPreempt } from './tenant-share.js';

const share = (tenant: string, running: number, waiting: number) => ({ tenant, running, waiting });
const here = new Set(['a', 'b']);

describe('tenantToPreempt', () => {
  it.each([
    ['the tenant with all slots, for one that has none', [share('a', 4, 2), share('c', 0, 1)], 'a'],
    [
      'the one with most of those here',
      [share('a', 2, 0), share('b', 3, 0), share('c', 0, 1), share('d', 9, 0)],
      'b',
    ],
    ['nobody when none waits', [share('a', 4, 0), share('b', 0, 0)], undefined],
    ['nobody for its own', [share('a', 4, 9)], undefined],
    [
      'nobody when the other would have more afterwards',
      [share('a', 2, 1), share('b', 1, 1)],
      undefined,
    ],
    [
      'nobody when only others elsewhere have more',
      [share('d', 4, 0), share('c', 0, 1)],
      undefined,
    ],
  ])('is %s', (_, shares, expected) => {
    expect(tenantToPreempt(shares, here)).toBe(expected);
  });

  it('ends with equal shares, whatever it starts from', () => {
    const running = new Map([
      ['a', 8],
      ['b', 0],
    ]);
    let moves = 0;
    for (;;) {
      const shares = [...running].map(([tenant, count]) => share(tenant, count, 10));
      const tenant = tenantToPreempt(shares, new Set(running.keys()));
      if (tenant === undefined) break;
      running.set(tenant, running.get(tenant)! - 1);
      running.set('b', running.get('b')! + 1);
      moves += 1;
    }
    expect([moves, running.get('a'), running.get('b')]).toEqual([4, 4, 4]);
  });
});

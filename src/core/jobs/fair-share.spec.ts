import { describe, expect, it } from '@jest/globals';
import { FairShare, urgency } from './fair-share.js';

const lane = (tenant: string, name: string, weight = 1) => ({
  key: `${tenant}/${name}`,
  tenant,
  weight,
});
const all = () => true;

function served(
  share: FairShare,
  count: number,
  canGo: (key: string) => boolean = all,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let turn = 0; turn < count; turn++) {
    const key = share.next(canGo);
    if (key !== undefined) counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe('FairShare', () => {
  it('gives a tenant with three jobs no more than a tenant with one', () => {
    const share = new FairShare();
    for (const name of ['1', '2', '3']) share.put(lane('many', name));
    share.put(lane('one', '1'));
    expect(served(share, 60)).toEqual({ 'many/1': 10, 'many/2': 10, 'many/3': 10, 'one/1': 30 });
  });

  it('gives lanes of one tenant turns by weight', () => {
    const share = new FairShare();
    share.put(lane('t', 'late', 3));
    share.put(lane('t', 'early', 1));
    expect(served(share, 40)).toEqual({ 't/late': 30, 't/early': 10 });
  });

  it('lets nobody wait for a lane that cannot go, and saves no turns for it', () => {
    const share = new FairShare();
    share.put(lane('a', '1'));
    share.put(lane('b', '1'));
    expect(served(share, 10, key => key === 'b/1')).toEqual({ 'b/1': 10 });
    expect(served(share, 10)).toEqual({ 'a/1': 5, 'b/1': 5 });
  });

  it('says so when none can go, and is empty when all have left', () => {
    const share = new FairShare();
    share.put(lane('a', '1'));
    expect(share.next(() => false)).toBeUndefined();
    share.remove('a/1');
    expect([share.next(all), share.size]).toEqual([undefined, 0]);
  });

  it('asks a lane once at most whether it can go, and not one that others go before', () => {
    const share = new FairShare();
    share.put(lane('a', '1'));
    for (const name of ['1', '2', '3']) share.put(lane('b', name));
    served(share, 8);
    const asked: string[] = [];
    expect(share.next(candidate => asked.push(candidate) > 0)).toBe('a/1');
    expect(asked.sort()).toEqual(['a/1', 'b/2', 'b/3']);
  });

  it('goes on in order when a lane leaves in the middle', () => {
    const share = new FairShare();
    for (const name of ['1', '2', '3']) share.put(lane('t', name));
    served(share, 2);
    share.remove('t/1');
    expect(served(share, 10)).toEqual({ 't/2': 5, 't/3': 5 });
  });
});

describe('urgency', () => {
  const job = { createdAtMs: 0, expiresAtMs: 100, total: 100 };

  it.each([
    ['well ahead of its clock', 20, 20, 1],
    ['on the clock', 50, 50, 2.5],
    ['far behind', 80, 80, 4],
    ['past its deadline', 100, 60, 4],
  ])('of a job %s', (_, nowMs, remaining, weight) => {
    expect(urgency({ ...job, nowMs, remaining })).toBeCloseTo(weight, 5);
  });
});

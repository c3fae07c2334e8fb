import { beforeEach, describe, expect, it } from '@jest/globals';
import { GroupTimes } from './group-times.js';

let times: GroupTimes;

beforeEach(() => {
  times = new GroupTimes();
});

/** A group of that size took 1000 ms and 250 ms per member; each member reports it. */
function served(batchSize: number, readyMs = 40) {
  const grpcMs = readyMs + 1000 + 250 * batchSize;
  for (let member = 0; member < batchSize; member += 1) {
    times.observe({ phases: { grpcMs, readyMs }, batchSize, costMs: 10 });
  }
}

describe('GroupTimes', () => {
  it('knows nothing before the first answer', () => {
    expect(times.known).toBe(false);
  });

  it('learns the fixed part of a group and that of each member', () => {
    for (const size of [1, 8, 4, 2, 8, 6]) served(size);
    expect(times.groupMs(8, 80)).toBeCloseTo(3000, 0);
    expect(times.groupMs(3, 30)).toBeCloseTo(1750, 0);
  });

  it('takes a group of one size as it is, whatever the size asked', () => {
    served(8);
    expect([times.groupMs(8, 80), times.groupMs(4, 40)]).toEqual([3000, 3000]);
  });

  it('grows with the estimated cost of the members', () => {
    served(8);
    expect(times.groupMs(8, 160)).toBeCloseTo(6000, 0);
  });

  it('counts the wait for the device to the call, not to the group', () => {
    served(8, 500);
    expect([times.groupMs(8, 80), times.callMs(10)]).toEqual([3000, 3500]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { DeviceLane } from './batch-journal.js';

const clock = { nowMs: () => 0 };

describe('DeviceLane', () => {
  it('names every engine call differently', async () => {
    const lane = new DeviceLane((group: readonly number[]) => Promise.resolve(group.map(value => ok(value))), clock);
    const [one, two] = await Promise.all([lane.run([1]), lane.run([2])]);
    expect(one.batchId).not.toBe(two.batchId);
    expect(lane.running).toBe(0);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('device lost'))],
    ['answers for fewer items than it was given', () => Promise.resolve([ok(1)])],
  ])('fails every member when the engine %s, and is free again', async (_what, compute) => {
    const lane = new DeviceLane<number, number>(compute, clock);
    const { outcomes } = await lane.run([1, 2]);
    expect(outcomes.map(outcome => outcome.ok)).toEqual([false, false]);
    expect(lane.running).toBe(0);
  });
});

const ok = (value: number) => ({ ok: true as const, value });

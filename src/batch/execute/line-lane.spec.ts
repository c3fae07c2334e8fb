import { describe, expect, it } from '@jest/globals';
import { encodePlan, Plan } from '../../core/jobs/plan-entry.js';
import { JobProgress } from '../job/job-progress.js';
import { LineLane } from './line-lane.js';
import { TargetGate } from './target-gate.js';

const plan = (lines: number): Plan =>
  new Plan(
    encodePlan(
      Array.from({ length: lines }, (_, index) => ({ offset: index, length: 10, prefixHash: 0 })),
    ),
  );

const PAUSES = { firstMs: 10, longestMs: 100 };

describe('a line that is tried again', () => {
  it('waits for its time while others go, and goes before new ones then', () => {
    const gate = new TargetGate(10, PAUSES);
    const lines = { model: 'm', first: 0, plan: plan(3) };
    const lane = new LineLane('job', 't', lines, gate, new JobProgress(3));
    const first = lane.take(0)!;
    lane.retryAt(first, 50);
    const second = lane.take(49)!;
    expect(second).not.toBe(first);
    expect(lane.take(50)).toBe(first);
  });

  it('goes after those whose time is earlier or the same, whenever they were queued', () => {
    const gate = new TargetGate(10, PAUSES);
    const lines = { model: 'm', first: 0, plan: plan(4) };
    const lane = new LineLane('job', 't', lines, gate, new JobProgress(4));
    const [a, b, c, d] = [0, 0, 0, 0].map(nowMs => lane.take(nowMs)!);
    lane.retryAt(a!, 30);
    lane.retryAt(b!, 20);
    lane.retryAt(c!, 30);
    lane.retryAt(d!, 10);
    expect([0, 0, 0, 0].map(() => lane.take(30))).toEqual([d, b, a, c]);
  });
});

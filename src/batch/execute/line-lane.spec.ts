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

describe('a lane behind another of its device', () => {
  it('waits until the last line of that one has its answer, unless its target is away', () => {
    const gate = new TargetGate(10, PAUSES);
    const [first, second] = ['m1', 'm2'].map(
      model =>
        new LineLane('job', 't', { model, first: 0, plan: plan(1) }, gate, new JobProgress(1)),
    );
    second!.goAfter([first!]);
    expect(second!.isBehind(0)).toBe(true);
    first!.take(0);
    expect(second!.isBehind(0)).toBe(true);
    gate.overloaded(0, 50);
    expect([0, 50].map(nowMs => second!.isBehind(nowMs))).toEqual([false, true]);
    first!.ended();
    expect(second!.isBehind(50)).toBe(false);
  });
});

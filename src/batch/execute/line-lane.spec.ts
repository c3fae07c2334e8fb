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

describe('the lines of a model', () => {
  const lane = (lines: number, done: readonly number[] = [], first = 0) => {
    const progress = new JobProgress(first + lines);
    for (const index of done) progress.record({ index, kind: 'O' });
    const gate = new TargetGate(10, PAUSES);
    return new LineLane('job', 't', { model: 'm', first, plan: plan(lines) }, gate, progress);
  };

  it('are sent in the order of the plan, without those that have results', () => {
    const its = lane(5, [2, 4, 5], 2);
    expect([its.key, its.model, its.isEmpty]).toEqual(['job\nm', 'm', false]);
    const first = its.peek(0);
    expect([its.peek(0), its.take(0)]).toEqual([first, first]);
    expect(first).toMatchObject({ index: 3, tried: { failed: 0, busy: 0 }, entry: { offset: 1 } });
    expect(its.take(0)).toMatchObject({ index: 6 });
    expect([its.isEmpty, its.peek(0), its.take(0)]).toEqual([true, undefined, undefined]);
    expect(lane(2, [0, 1]).isEmpty).toBe(true);
  });

  it('are not all sent while one waits for its next attempt', () => {
    const its = lane(1);
    const line = its.take(0)!;
    its.retryAt(line, 10);
    expect([its.isEmpty, its.take(9)]).toEqual([false, undefined]);
    expect([its.take(10), its.isEmpty]).toEqual([line, true]);
  });

  it.each([
    ['of a line that is ready', 0, 0, Infinity],
    ['of a line that is ready but for its target', 0, 20, 20],
    ['of a line that waits', 30, 0, 30],
    ['of a line that waits longer than its target', 30, 20, 30],
    ['of a line that waits less', 30, 40, 40],
    ['of a line that is due', 5, 0, Infinity],
  ])('are due by time alone %s', (_, dueMs, closedMs, expected) => {
    const its = lane(1);
    if (dueMs > 0) its.retryAt(its.take(0)!, dueMs);
    if (closedMs > 0) its.gate.overloaded(0, closedMs);
    expect(its.nextDueMs(5)).toBe(expected);
    expect(lane(0).nextDueMs(5)).toBe(Infinity);
  });

  it('are behind those of which one of two still has no answer', () => {
    const [first, behind] = [lane(2), lane(1)];
    behind.goAfter([first]);
    for (let taken = 0; taken < 2; taken++) first.take(0);
    const held = [0, 1].map(() => {
      first.ended();
      return behind.isBehind(0);
    });
    expect(held).toEqual([true, false]);
  });

  it('are behind none by default', () => {
    expect(lane(1).isBehind(0)).toBe(false);
    const [empty, behind] = [lane(0), lane(1)];
    behind.goAfter([empty]);
    expect(behind.isBehind(0)).toBe(false);
  });
});

it('a lane behind one whose target is away is not held', () => {
  const gate = new TargetGate(10, { firstMs: 0, longestMs: 0 });
  const [first, second] = ['m1', 'm2'].map(
    model => new LineLane('job', 't', { model, first: 0, plan: plan(1) }, gate, new JobProgress(1)),
  );
  second!.goAfter([first!]);
  gate.failed(0);
  expect([gate.isOpen(0), second!.isBehind(0)]).toEqual([true, false]);
});

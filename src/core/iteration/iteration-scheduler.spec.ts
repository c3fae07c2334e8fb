import { beforeEach, describe, expect, it } from '@jest/globals';
import { IterationScheduler, type StepPlan, type StepResult } from './iteration-scheduler.js';

interface Row {
  readonly id: string;
  readonly priorityClass: number;
  readonly arrivalMs: number;
}

const row = (id: string, arrivalMs = 0, priorityClass = 0): Row => ({ id, arrivalMs, priorityClass });
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id).join('');
const shown = (plan: StepPlan<Row> | undefined) =>
  plan && {
    leave: ids(plan.leave),
    prefill: ids(plan.prefill),
    decode: plan.decode.map(({ members }) => ids(members)),
  };

describe('IterationScheduler', () => {
  const [a, b, c] = [row('a'), row('b'), row('c')];
  let ends: string[];
  const make = (maxRows: number, maxHoldSteps?: number) =>
    new IterationScheduler<Row>({
      maxRows,
      classWidthMs: 1000,
      ...(maxHoldSteps === undefined ? {} : { maxHoldSteps }),
      ended: ({ id }, { type }) => ends.push(`${id} ${type}`),
    });
  const results = (...pairs: [Row, StepResult][]) => new Map(pairs);
  const goesOn = (position: number): StepResult => ({ type: 'continue', position });
  beforeEach(() => {
    ends = [];
  });

  it('has no plan when there is nothing to do', () => {
    expect(make(2).plan()).toBeUndefined();
  });

  it('fills 2 rows, then the third joins when one leaves', () => {
    const scheduler = make(2);
    [a, b, c].forEach(sequence => scheduler.submit(sequence));
    expect(shown(scheduler.plan())).toEqual({ leave: '', prefill: 'ab', decode: [] });
    scheduler.complete(results([a, goesOn(4)], [b, goesOn(4)]));
    expect(shown(scheduler.plan())).toEqual({ leave: '', prefill: '', decode: ['ab'] });
    scheduler.complete(results([a, { type: 'finished' }], [b, goesOn(5)]));
    expect(shown(scheduler.plan())).toEqual({ leave: 'a', prefill: 'c', decode: ['b'] });
    expect(ends).toEqual(['a finished']);
  });

  it('takes the smallest class · W + arrival first: a class of 1 catches up after W = 1000 ms', () => {
    const scheduler = make(1);
    [row('new', 1500), row('old', 400, 1), row('now', 1300)].forEach(sequence => scheduler.submit(sequence));
    const order = [0, 1, 2].map(() => {
      const [first] = scheduler.plan()!.prefill;
      scheduler.complete(results([first!, { type: 'finished' }]));
      return first!.id;
    });
    expect(order).toEqual(['now', 'old', 'new']);
  });

  it('ends a cancelled sequence at once while it waits and between steps, after the step while it runs', () => {
    const scheduler = make(2);
    [a, b, c].forEach(sequence => scheduler.submit(sequence));
    expect(scheduler.cancel(c)).toBe(true);
    expect(ends).toEqual(['c cancelled']);
    scheduler.plan();
    expect(scheduler.cancel(a)).toBe(true);
    expect(ends).toEqual(['c cancelled']);
    scheduler.complete(results([a, { type: 'finished' }], [b, goesOn(1)]));
    expect(ends).toEqual(['c cancelled', 'a cancelled']);
    expect(scheduler.cancel(b)).toBe(true);
    expect([a, b, c].map(sequence => scheduler.cancel(sequence))).toEqual([false, false, false]);
    expect(shown(scheduler.plan())).toEqual({ leave: 'ab', prefill: '', decode: [] });
    expect(ends).toEqual(['c cancelled', 'a cancelled', 'b cancelled']);
  });

  it('prefills a restarted sequence again in its row', () => {
    const scheduler = make(1);
    [a, b].forEach(sequence => scheduler.submit(sequence));
    scheduler.plan();
    scheduler.complete(results([a, { type: 'restart' }]));
    expect(shown(scheduler.plan())).toEqual({ leave: '', prefill: 'a', decode: [] });
  });

  it('fails a member that a step forgot, and only that one', () => {
    const scheduler = make(2);
    [a, b].forEach(sequence => scheduler.submit(sequence));
    scheduler.plan();
    scheduler.complete(results([b, goesOn(3)]));
    expect(ends).toEqual(['a failed']);
    expect(shown(scheduler.plan())).toMatchObject({ leave: 'a', decode: ['b'] });
  });

  it('holds a row that is 2 ahead until the other has caught up, then runs both in one group', () => {
    const scheduler = make(2, 8);
    scheduler.submit(a);
    scheduler.plan();
    scheduler.complete(results([a, goesOn(6)]));
    scheduler.submit(b);
    expect(shown(scheduler.plan())).toMatchObject({ prefill: 'b', decode: ['a'] });
    scheduler.complete(results([a, goesOn(7)], [b, goesOn(5)]));
    expect(shown(scheduler.plan())).toMatchObject({ decode: ['b'] });
    scheduler.complete(results([b, goesOn(6)]));
    expect(shown(scheduler.plan())).toMatchObject({ decode: ['b'] });
    scheduler.complete(results([b, goesOn(7)]));
    expect(shown(scheduler.plan())).toMatchObject({ decode: ['ab'] });
  });
});

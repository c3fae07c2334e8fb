import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { IterationScheduler, type StepPlan, type StepResult } from '../../src/core/iteration/iteration-scheduler.js';

const PATIENCE = 6;

/** A sequence that knows how long it is, and checks what is done to it. */
class Sequence {
  position = -1;
  ends: string[] = [];
  steps = 0;
  plansWhileRunning = 0;
  restarts: number;
  cancelled = false;
  constructor(
    readonly priorityClass: number,
    readonly arrivalMs: number,
    readonly prompt: number,
    readonly length: number,
    restarts: number,
  ) {
    this.restarts = restarts;
  }

  prefill(): StepResult {
    expect(this.position).toBe(-1);
    this.position = this.prompt;
    return { type: 'continue', position: this.position };
  }

  decode(): StepResult {
    this.steps += 1;
    this.position += 1;
    if (this.position < this.prompt + this.length) return { type: 'continue', position: this.position };
    if (this.restarts-- <= 0) return { type: 'finished' };
    this.position = -1;
    return { type: 'restart' };
  }
}

const sequence = fc.record({
  priorityClass: fc.nat(2),
  prompt: fc.integer({ min: 1, max: 9 }),
  length: fc.integer({ min: 1, max: 12 }),
  restarts: fc.constantFrom(0, 0, 0, 1, 2),
  afterSteps: fc.nat(6),
  cancelAfter: fc.constantFrom(undefined, undefined, undefined, 0, 1, 3),
  cancelInStep: fc.boolean(),
});

const trace = fc.record({
  maxRows: fc.integer({ min: 1, max: 5 }),
  lockstep: fc.boolean(),
  arrivals: fc.array(sequence, { minLength: 1, maxLength: 14 }),
});

type Trace = typeof trace extends fc.Arbitrary<infer T> ? T : never;

/** Runs a whole history; every plan is handed to `check` before its results. */
function play({ maxRows, lockstep, arrivals }: Trace, check: (plan: StepPlan<Sequence>) => void): Sequence[] {
  const all: Sequence[] = [];
  const scheduler = new IterationScheduler<Sequence>({
    ...{ maxRows, classWidthMs: 5, ...(lockstep ? { maxHoldSteps: PATIENCE } : {}) },
    ended: (ended, { type }) => ended.ends.push(type),
  });
  const script = arrivals.map(fields => ({ ...fields, at: 0, sequence: undefined as Sequence | undefined }));
  script.reduce((at, entry) => (entry.at = at + entry.afterSteps), 0);
  for (let step = 0; ; step++) {
    for (const entry of script.filter(({ at }) => at === step)) {
      entry.sequence = new Sequence(entry.priorityClass, step, entry.prompt, entry.length, entry.restarts);
      all.push(entry.sequence);
      scheduler.submit(entry.sequence);
    }
    const cancels = (inStep: boolean) => {
      for (const { sequence: target, cancelAfter, cancelInStep } of script) {
        if (target === undefined || cancelInStep !== inStep || cancelAfter === undefined) continue;
        if (target.steps >= cancelAfter && scheduler.cancel(target)) target.cancelled = true;
      }
    };
    cancels(false);
    const plan = scheduler.plan();
    if (plan === undefined && script.every(({ at }) => at <= step)) return all;
    if (plan === undefined) continue;
    check(plan);
    cancels(true);
    const results = new Map<Sequence, StepResult>();
    for (const member of plan.prefill) results.set(member, member.prefill());
    for (const member of plan.decode.flatMap(({ members }) => members)) results.set(member, member.decode());
    scheduler.complete(results);
    expect(step).toBeLessThan(5000);
  }
}

describe('IterationScheduler in any history', () => {
  it('ends every sequence exactly once, frees it exactly once, and never touches it afterwards', () => {
    fc.assert(
      fc.property(trace, history => {
        const freed = new Map<Sequence, number>();
        const all = play(history, plan => {
          for (const gone of plan.leave) freed.set(gone, (freed.get(gone) ?? 0) + 1);
          const members = [...plan.prefill, ...plan.decode.flatMap(group => group.members)];
          expect(new Set(members).size).toBe(members.length);
          expect(members.every(member => member.ends.length === 0)).toBe(true);
        });
        for (const one of all) {
          expect(one.ends).toEqual([one.cancelled ? 'cancelled' : 'finished']);
          expect(freed.get(one) ?? 0).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('keeps the rows within the bound, fills them while anybody waits, and always moves', () => {
    fc.assert(
      fc.property(trace, history => {
        const present = new Set<Sequence>();
        play(history, plan => {
          plan.leave.forEach(gone => present.delete(gone));
          const members = [...plan.prefill, ...plan.decode.flatMap(group => group.members)];
          members.forEach(member => present.add(member));
          expect(present.size).toBeLessThanOrEqual(history.maxRows);
          expect(members.length + plan.leave.length).toBeGreaterThan(0);
        });
      }),
      { numRuns: 150 },
    );
  });

  it('groups equal positions only, and holds nobody for more than its patience, when asked for lockstep', () => {
    fc.assert(
      fc.property(trace, history => {
        const held = new Map<Sequence, number>();
        const running = new Set<Sequence>();
        play({ ...history, lockstep: true }, plan => {
          plan.leave.forEach(gone => running.delete(gone));
          const moving = new Set([...plan.prefill, ...plan.decode.flatMap(group => group.members)]);
          for (const member of running) if (!moving.has(member)) held.set(member, (held.get(member) ?? 0) + 1);
          for (const member of moving) running.add(member);
          for (const { position, members } of plan.decode) {
            expect(members.every(member => member.position === position)).toBe(true);
          }
          expect(Math.max(0, ...held.values())).toBeLessThanOrEqual(PATIENCE);
        });
      }),
      { numRuns: 150 },
    );
  });

  it('makes the same plans from the same history', () => {
    fc.assert(
      fc.property(trace, history => {
        const log = () => {
          const lines: string[] = [];
          play(history, ({ leave, prefill, decode }) =>
            lines.push(JSON.stringify([leave.length, prefill.map(p => p.arrivalMs), decode.map(d => d.position)])),
          );
          return lines;
        };
        expect(log()).toEqual(log());
      }),
      { numRuns: 50 },
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InterimSchedule, RunningPasses } from '../../src/core/realtime/interim-schedule.js';
import { StableText } from '../../src/core/realtime/stable-text.js';
import { type RequestKey } from '../../src/core/request/request-key.js';

const RUNS = 500;
const EVERY_S = 0.3;
const MODEL = 'm';

/** What happens in one tick of 100 ms: who speaks, and what else comes. */
const tick = fc.record({
  speaking: fc.uniqueArray(fc.nat({ max: 2 })),
  fileMs: fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 900 }) },
  ),
  passMs: fc.integer({ min: 1, max: 900 }),
});
type Tick = typeof tick extends fc.Arbitrary<infer T> ? T : never;

/**
 * One device that makes one call at a time, beside three who speak. @returns when each file
 * began, and how many passes there were
 */
function replay(ticks: readonly Tick[], withPasses: boolean) {
  const sessions = Array.from({ length: 3 }, () => ({
    schedule: new InterimSchedule(EVERY_S),
    spokenS: 0,
  }));
  const running = new RunningPasses();
  const waiting: { readonly at: number; readonly ms: number }[] = [];
  const begun: number[] = [];
  let [busyUntilMs, passes] = [0, 0];
  const work = (untilMs: number): void => {
    while (waiting.length > 0 && Math.max(busyUntilMs, waiting[0]!.at) <= untilMs) {
      const { at, ms } = waiting.shift()!;
      begun.push(Math.max(busyUntilMs, at));
      busyUntilMs = begun.at(-1)! + ms;
    }
  };
  ticks.forEach(({ speaking, fileMs, passMs }, number) => {
    const nowMs = number * 100;
    work(nowMs);
    if (fileMs !== null) {
      waiting.push({ at: nowMs, ms: fileMs });
      const file = { key: `file ${number}` as RequestKey, model: MODEL };
      running.displacedBy(file).forEach(key => running.ended(key));
      expect(running.displacedBy(file)).toEqual([]);
    }
    for (const at of speaking) {
      const session = sessions[at]!;
      session.spokenS += 0.1;
      const isIdle = () => waiting.length === 0 && busyUntilMs <= nowMs;
      if (!withPasses || !session.schedule.begins(0, session.spokenS, isIdle)) continue;
      passes += 1;
      running.began(`pass ${passes}` as RequestKey, MODEL);
      busyUntilMs = nowMs + passMs;
      session.schedule.ended();
    }
  });
  work(Infinity);
  return { begun, passes };
}

describe('passes over what is being spoken', () => {
  it('delay a file or an utterance by the engine call that runs at most, whatever comes', () => {
    let passes = 0;
    fc.assert(
      fc.property(fc.array(tick, { minLength: 1, maxLength: 80, size: 'max' }), ticks => {
        const [alone, beside] = [replay(ticks, false), replay(ticks, true)];
        const longest = Math.max(...ticks.map(({ passMs }) => passMs));
        const late = beside.begun.map((ms, at) => ms - alone.begun[at]!);
        expect(late.filter(ms => ms > longest)).toEqual([]);
        passes += beside.passes;
      }),
      { numRuns: RUNS },
    );
    expect(passes).toBeGreaterThan(RUNS);
  });

  it('begin one at a time, each after as much new speech as is asked for', () => {
    const act = fc.record({ newS: fc.double({ min: 0, max: 1, noNaN: true }), ends: fc.boolean() });
    fc.assert(
      fc.property(fc.array(act), acts => {
        const schedule = new InterimSchedule(EVERY_S);
        let [spokenS, heardS, isRunning] = [0, 0, false];
        for (const { newS, ends } of acts) {
          spokenS += newS;
          const begins = schedule.begins(0, spokenS, () => true);
          expect(begins).toBe(!isRunning && spokenS - heardS >= EVERY_S);
          if (begins) [heardS, isRunning] = [spokenS, true];
          if (ends) schedule.ended();
          isRunning &&= !ends;
        }
      }),
    );
  });

  it('bring words that stay: what two of them heard is said once, and never taken back', () => {
    const text = fc
      .array(fc.constantFrom('so', 'we', 'go', 'on', 'now', '今', '日'), { maxLength: 12 })
      .map(words => words.join(' '));
    fc.assert(
      fc.property(fc.array(text), text, (guesses, final) => {
        const stable = new StableText();
        let said = '';
        for (const [at, guess] of guesses.entries()) {
          said += stable.partial(guess, 2);
          expect(stable.sent.join('')).toBe(said);
          const [last, before] = [guesses[at]!, guesses[at - 1] ?? ''];
          if (said === '' || guesses.slice(0, at + 1).some(one => !guess.startsWith(one))) continue;
          // Guesses that only grow: what is said is what the last two agree on, or the first words.
          const words = said.split(' ').length;
          const isFirst = words <= 3 && last.split(' ').length >= words + 3;
          expect(last.startsWith(said) && (isFirst || before.startsWith(said))).toBe(true);
        }
        const whole = said + stable.final(final);
        expect(whole.startsWith(said)).toBe(true);
        if (final.startsWith(said)) expect(whole).toBe(final);
      }),
    );
  });
});

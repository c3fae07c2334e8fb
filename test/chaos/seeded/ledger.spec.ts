import { beforeEach, describe, expect, it } from '@jest/globals';
import { Ledger } from './ledger.js';
import { mostUnanswered } from './plan.js';

const fault = (name: string, ms = 0) => ({ name, ms, atMs: 0, pick: 0 }) as never;
const plan = (...faults: never[]) => ({ seed: 1, topology: 'single', faults }) as const;

describe('an attempt without an answer', () => {
  let ledger: Ledger;
  beforeEach(() => {
    ledger = new Ledger();
  });
  const texts = (most: number): readonly string[] => {
    ledger.boundUnanswered(most);
    return ledger.violations.map(({ invariant, text }) => `${invariant} ${text.slice(0, 24)}`);
  };

  it('is a fault that no plan without noticeable faults excuses', () => {
    ledger.noteUnanswered('GET /a', 'silent', ledger.nowMs);
    expect(texts(0)).toEqual(['unanswered GET /a: silent 0.0 s aft', expect.any(String)]);
  });

  it('is explained while a fault silences the gateway, also when it was sent before', () => {
    const sinceMs = ledger.nowMs;
    ledger.interrupted('any')();
    ledger.noteUnanswered('GET /a', 'broken off', sinceMs);
    expect(texts(1)).toEqual([]);
  });

  it('that breaks off is not explained by a fault elsewhere, one that waits too long is', () => {
    const over = ledger.interrupted('silent');
    for (const how of ['broken off', 'silent'] as const)
      ledger.noteUnanswered(`GET /${how}`, how, ledger.nowMs);
    over();
    expect(texts(2)).toEqual(['unanswered GET /broken off: broken ']);
  });

  it('that is the missing end of a stored stream is explained by a fault of the database, by no other', () => {
    const cut = () => ledger.noteUnanswered('GET /a', 'not kept', ledger.nowMs);
    const [worker, database] = (['silent', 'database'] as const).map(
      how => () => ledger.interrupted(how),
    );
    const overWorker = worker!();
    cut();
    overWorker();
    expect(texts(0)).toEqual(['unanswered GET /a: not kept 0.0 s a']);
    ledger = new Ledger();
    const overDatabase = database!();
    cut();
    overDatabase();
    expect(texts(0)).toEqual([]);
  });

  it('counts against the bound of the plan, unless nobody took the connection', () => {
    const over = ledger.interrupted('any');
    for (const how of ['refused', 'silent', 'silent'] as const)
      ledger.noteUnanswered('GET /a', how, ledger.nowMs);
    over();
    expect(texts(2)).toEqual([]);
    expect(texts(1)).toHaveLength(1);
  });
});

describe('the bound of a plan', () => {
  it('is 0 where no caller may notice, else one of each caller, and one more each 20 s', () => {
    expect(mostUnanswered(plan(fault('term-worker')), 12, 20_000)).toBe(0);
    expect(mostUnanswered(plan(fault('kill-gateway')), 12, 20_000)).toBe(12);
    const two = plan(fault('kill-gateway'), fault('freeze-gateway', 30_000));
    expect(mostUnanswered(two, 12, 20_000)).toBe(12 + 36);
  });
});

import { describe, expect, it } from '@jest/globals';
import { GroupLedger } from './ready-queue.js';

const group = { id: 'g', size: 3 };

describe('GroupLedger', () => {
  it('counts members that are still arriving and those being prepared as missing', () => {
    const ledger = new GroupLedger();
    ledger.arrived(group, 0);
    ledger.arrived(group, 0);
    expect(ledger.missing(group)).toBe(3);
    ledger.leftPreparation(group, 0);
    expect(ledger.missing(group)).toBe(2);
    ledger.leftPreparation(group, 0);
    ledger.arrived(group, 0);
    ledger.leftPreparation(group, 0);
    expect(ledger.missing(group)).toBe(0);
  });

  it('tells with the last member how long the group took', () => {
    const ledger = new GroupLedger();
    const pair = { id: 'pair', size: 2 };
    ledger.arrived(pair, 100);
    expect(ledger.leftPreparation(pair, 103)).toBeUndefined();
    ledger.arrived(pair, 105);
    expect(ledger.leftPreparation(pair, 112)).toBe(12);
  });

  it('never misses anybody of a group of one', () => {
    const ledger = new GroupLedger();
    ledger.arrived({ id: 'one', size: 1 }, 0);
    expect([ledger.missing({ id: 'one', size: 1 }), ledger.size]).toEqual([0, 0]);
  });

  it('forgets a group with its last member, also when others never came', () => {
    const ledger = new GroupLedger();
    ledger.arrived(group, 0);
    ledger.leftPreparation(group, 0);
    ledger.departed(group);
    expect([ledger.missing(group), ledger.size]).toEqual([0, 0]);
  });

  it('takes more members than announced without counting below zero', () => {
    const ledger = new GroupLedger();
    for (let member = 0; member < 5; member += 1) ledger.arrived({ id: 'g', size: 2 }, 0);
    for (let member = 0; member < 5; member += 1) ledger.leftPreparation(group, 0);
    expect(ledger.missing(group)).toBe(0);
  });
});

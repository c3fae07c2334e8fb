import { describe, expect, it } from '@jest/globals';
import { GroupLedger } from './group-ledger.js';

const group = { id: 'g', size: 3 };

describe('GroupLedger', () => {
  it('counts members that are still arriving and those being prepared as missing', () => {
    const ledger = new GroupLedger();
    ledger.arrived(group);
    ledger.arrived(group);
    expect(ledger.missing(group)).toBe(3);
    ledger.leftPreparation(group);
    expect(ledger.missing(group)).toBe(2);
    ledger.leftPreparation(group);
    ledger.arrived(group);
    ledger.leftPreparation(group);
    expect(ledger.missing(group)).toBe(0);
  });

  it('never misses anybody of a group of one', () => {
    const ledger = new GroupLedger();
    ledger.arrived({ id: 'one', size: 1 });
    expect([ledger.missing({ id: 'one', size: 1 }), ledger.size]).toEqual([0, 0]);
  });

  it('forgets a group with its last member, also when others never came', () => {
    const ledger = new GroupLedger();
    ledger.arrived(group);
    ledger.leftPreparation(group);
    ledger.departed(group);
    expect([ledger.missing(group), ledger.size]).toEqual([0, 0]);
  });

  it('takes more members than announced without counting below zero', () => {
    const ledger = new GroupLedger();
    for (let member = 0; member < 5; member += 1) ledger.arrived({ id: 'g', size: 2 });
    for (let member = 0; member < 5; member += 1) ledger.leftPreparation(group);
    expect(ledger.missing(group)).toBe(0);
  });
});

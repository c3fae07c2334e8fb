import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Lease } from '../../core/shared/lease.js';
import { slotCredits, SlotLedger } from './slot-ledger.js';

const ignore = () => undefined;

describe('SlotLedger', () => {
  it.each([
    [8, 1, 16],
    [1, 1, 2],
    [4, 2, 12],
  ])('max_batch %i and max_concurrent %i are %i credits (D-24)', (maxBatch, maxConcurrent, credits) => {
    expect(slotCredits({ maxBatch, maxConcurrent })).toBe(credits);
  });

  it('refuses more than is free and takes nothing then', () => {
    const ledger = new SlotLedger(ignore);
    ledger.resize(2);
    expect(() => ledger.lease(3)).toThrow('3 slots wanted, 2 of 2 free');
    expect(ledger.inUse).toBe(0);
  });

  it('leases that outlive a shrink come back without making slots', () => {
    let grew = 0;
    const ledger = new SlotLedger(() => grew++);
    ledger.resize(2);
    const leases = ledger.lease(2);
    ledger.resize(0);
    leases.forEach(lease => lease.release());
    expect([ledger.total, ledger.free, ledger.inUse, grew]).toEqual([0, 0, 0, 1]);
  });

  it('whatever happens: 0 <= free <= total, and every lease comes back exactly once', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('lease' as const), n: fc.nat(4) }),
      fc.record({ do: fc.constant('release' as const), n: fc.nat(50) }),
      fc.record({ do: fc.constant('resize' as const), n: fc.nat(8) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const ledger = new SlotLedger(ignore);
        const all: Lease[] = [];
        for (const { do: action, n } of steps) {
          if (action === 'lease' && n <= ledger.free) all.push(...ledger.lease(n));
          else if (action === 'release') all[n]?.release();
          else if (action === 'resize') ledger.resize(n);
          expect(ledger.inUse).toBe(all.filter(lease => !lease.released).length);
          expect(ledger.free).toBe(Math.max(0, ledger.total - ledger.inUse));
        }
      }),
    );
  });
});

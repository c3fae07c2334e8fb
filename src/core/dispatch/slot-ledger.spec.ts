import { describe, expect, it } from '@jest/globals';
import { slotsOf } from '@switchyard/worker-protocol/worker-slots.js';
import fc from 'fast-check';
import { type Lease } from './lease.js';
import { SlotLedger } from './slot-ledger.js';

const ignore = () => undefined;

describe('slots of a worker that generates text', () => {
  const worker = { kind: 'llm', maxBatch: 1, maxConcurrent: 8 };

  it('are as many as run: nothing is sent ahead, and REALTIME overdraws what the engine says', () => {
    expect(slotsOf(worker).credits).toBe(8);
    expect(slotsOf(worker).overdraft).toBe(0);
    expect(slotsOf({ ...worker, overdraft: 2 }).overdraft).toBe(2);
    expect(slotsOf({ ...worker, kind: 'embedding', maxBatch: 4 }).overdraft).toBe(4);
  });
});

describe('SlotLedger', () => {
  it.each([
    [8, 1, 16],
    [1, 1, 2],
    [4, 2, 12],
  ])(
    'max_batch %i and max_concurrent %i are %i credits (D-24)',
    (maxBatch, maxConcurrent, credits) => {
      expect(slotsOf({ kind: 'stt', maxBatch, maxConcurrent }).credits).toBe(credits);
    },
  );

  it('knows whether the last request that had a slot was a suspect that ran alone', () => {
    const ledger = new SlotLedger(ignore);
    ledger.resize(4);
    ledger.lease(1, 'free', 1)[0]?.release();
    expect(ledger.latestAlone).toBe(true);
    ledger.lease(2);
    expect(ledger.latestAlone).toBe(false);
  });

  it('forgets the bound of a suspect with the last of its slots', () => {
    const ledger = new SlotLedger(ignore);
    ledger.resize(4);
    const [lease] = ledger.lease(1, 'free', 1);
    expect(ledger.creditsFor(3).free).toBe(0);
    lease!.release();
    expect(ledger.creditsFor(3).free).toBe(3);
  });

  it('refuses more than is free and takes nothing then', () => {
    const ledger = new SlotLedger(ignore);
    ledger.resize(2);
    expect(() => ledger.lease(3)).toThrow('3 slots wanted, 2 free of 2 + 0');
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

  it('lends REALTIME the overdraft, takes it back first, and tells of each slot that returns', () => {
    let grew = 0;
    const ledger = new SlotLedger(() => grew++);
    ledger.resize(2, 1);
    const leases = [...ledger.lease(2), ...ledger.lease(1, 'urgent')];
    expect([ledger.free, ledger.urgent, ledger.inUse]).toEqual([0, 0, 3]);
    expect(() => ledger.lease(1, 'urgent')).toThrow('1 slots wanted, 0 urgent of 2 + 1');
    leases[0]?.release();
    expect([ledger.free, ledger.urgent, grew]).toEqual([0, 1, 2]);
    expect(() => ledger.lease(1)).toThrow('1 slots wanted, 0 free of 2 + 1');
    leases[1]?.release();
    expect([ledger.free, ledger.urgent, grew]).toEqual([1, 2, 3]);
  });

  it('whatever happens: no credit is exceeded or negative, growth is told, every lease comes back exactly once', () => {
    const step = fc.record({
      do: fc.constantFrom(
        'free' as const,
        'urgent' as const,
        'release' as const,
        'resize' as const,
      ),
      n: fc.nat(8),
      overdraft: fc.nat(4),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), steps => {
        let grew = 0;
        const ledger = new SlotLedger(() => grew++);
        const all: Lease[] = [];
        let reserve = 0;
        for (const { do: action, n, overdraft } of steps) {
          const before = { free: ledger.free, urgent: ledger.urgent, grew };
          if (action === 'release') all.at(-n)?.release();
          else if (action === 'resize') ledger.resize(n, (reserve = overdraft));
          else if (n > ledger[action])
            expect(() => ledger.lease(n, action)).toThrow('slots wanted');
          else all.push(...ledger.lease(n, action));
          expect(ledger.inUse).toBe(all.filter(lease => !lease.released).length);
          expect(ledger.free).toBe(Math.max(0, ledger.total - ledger.inUse));
          expect(ledger.urgent).toBe(Math.max(0, ledger.total + reserve - ledger.inUse));
          expect(grew > before.grew).toBe(
            ledger.free > before.free || ledger.urgent > before.urgent,
          );
        }
      }),
    );
  });
});

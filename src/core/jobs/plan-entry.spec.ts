import { describe, expect, it } from '@jest/globals';
import { compareEntries, encodePlan, Plan } from './plan-entry.js';

describe('Plan', () => {
  it('takes 16 bytes per entry and gives back what was put in, also behind 4 GiB', () => {
    const entries = [
      { offset: 0, length: 1, prefixHash: 0 },
      { offset: 6 * 2 ** 30, length: 2 ** 32 - 1, prefixHash: 0xffffffff },
    ];
    const bytes = encodePlan(entries);
    expect(bytes).toHaveLength(2 * 16);
    const plan = new Plan(bytes);
    expect([plan.at(0), plan.at(1)]).toEqual(entries);
  });

  it('reads from inside a larger buffer', () => {
    const whole = new Uint8Array(3 + 16);
    whole.set(encodePlan([{ offset: 7, length: 8, prefixHash: 9 }]), 3);
    expect(new Plan(whole.subarray(3)).at(0)).toEqual({ offset: 7, length: 8, prefixHash: 9 });
  });

  it('refuses a file that ends inside an entry', () => {
    expect(() => new Plan(new Uint8Array(17))).toThrow('16 bytes per entry; this one has 17');
  });

  it('puts equal prompts together, in file order, and lines without one last', () => {
    const at = (offset: number, prefixHash: number) => ({ offset, length: 1, prefixHash });
    const lines = [at(0, 0), at(10, 9), at(20, 3), at(30, 9), at(40, 0), at(50, 3)];
    expect(lines.toSorted(compareEntries).map(({ offset }) => offset)).toEqual([
      20, 50, 10, 30, 0, 40,
    ]);
  });
});

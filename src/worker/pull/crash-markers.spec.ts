import { describe, expect, it } from '@jest/globals';
import { faultOf, type Suspicion, UNSUSPECTED } from '../../core/request/retry-budget.js';
import { suspicionOf } from './crash-markers.js';

/**
 * Engine calls that a killer is part of until it fails, by their sizes, when each call is
 * as large as it may be.
 */
function sizesUntilFault(first: number): (number | string)[] {
  const sizes: (number | string)[] = [];
  let mark: NonNullable<Parameters<typeof suspicionOf>[1]> = {
    before: UNSUSPECTED,
    size: first,
    crashes: 0,
  };
  for (let crashes = 1; ; crashes++) {
    sizes.push(mark.size);
    const before: Suspicion = suspicionOf(crashes, mark);
    const fault = faultOf(before);
    if (fault) return [...sizes, fault];
    mark = { before, size: before.mostTogether!, crashes };
  }
}

describe('suspicionOf', () => {
  it('halves the group, leaves the killer alone, and finds it when it was alone twice', () => {
    expect(sizesUntilFault(6)).toEqual([6, 3, 1, 1, 'worker_crashed']);
    expect(sizesUntilFault(1)).toEqual([1, 1, 'worker_crashed']);
  });

  it('leaves a job alone that crashed before it reached the device, and counts only crashes after that', () => {
    expect(suspicionOf(1, undefined)).toEqual({ mostTogether: 1, alone: 0, deaths: 0 });
    expect([2, 3].map(crashes => faultOf(suspicionOf(crashes, undefined)))).toEqual([
      undefined,
      'worker_lost',
    ]);
    expect(suspicionOf(0, undefined)).toBe(UNSUSPECTED);
  });

  it('does not blame a job that was given back after its call', () => {
    const mark = { before: UNSUSPECTED, size: 1, crashes: 1 };
    expect(suspicionOf(1, mark)).toBe(UNSUSPECTED);
  });
});

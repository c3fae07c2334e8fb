import { describe, expect, it, jest } from '@jest/globals';
import { Lease } from './lease.js';

describe('Lease', () => {
  it('gives its slot back exactly once', () => {
    const onRelease = jest.fn();
    const lease = new Lease(onRelease);
    expect(lease.released).toBe(false);
    lease.release();
    lease.release();
    expect(lease.released).toBe(true);
    expect(onRelease).toHaveBeenCalledTimes(1);
  });

  it('counts as released while its slot comes back, so a release from inside changes nothing', () => {
    const seen: boolean[] = [];
    const lease: Lease = new Lease(() => {
      seen.push(lease.released);
      lease.release();
    });
    lease.release();
    expect(seen).toEqual([true]);
  });
});

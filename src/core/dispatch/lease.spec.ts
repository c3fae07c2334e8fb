import { describe, expect, it } from '@jest/globals';
import { Lease } from './lease.js';

describe('Lease', () => {
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

import { describe, expect, it } from '@jest/globals';
import { SuspectTenants } from './suspect-tenants.js';

describe('SuspectTenants', () => {
  it('suspects a tenant for one model, from its last crash on, for as long as it is told', () => {
    const suspects = new SuspectTenants(100);
    suspects.crashed('m', 'a', 0);
    suspects.crashed('m', 'a', 50);
    expect(suspects.isSuspect('m', 'a', 149)).toBe(true);
    expect(suspects.isSuspect('m', 'b', 149)).toBe(false);
    expect(suspects.isSuspect('other', 'a', 149)).toBe(false);
    expect(suspects.isSuspect('m', 'a', 150)).toBe(false);
  });

  it('0: suspects no tenant', () => {
    const suspects = new SuspectTenants(0);
    suspects.crashed('m', 'a', 7);
    expect(suspects.isSuspect('m', 'a', 7)).toBe(false);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { type LimitStore } from '../../core/limits/limit-store.port.js';
import { failOpenLimitStore } from './fail-open-limit-store.js';

const ADMISSION = { subject: 's', ticket: 't', limits: {} } as never;
const SPENT = { tokens: 1, audioSeconds: 0 };

describe('limits that gateways share', () => {
  let asked: string[];
  let failure: Error | undefined;
  let known: Error | undefined;
  const failures: Error[] = [];

  const store = (name: string, fails: () => Error | undefined): LimitStore => {
    const call = (what: string) => () => {
      asked.push(`${name} ${what}`);
      const error = fails();
      return error ? Promise.reject(error) : Promise.resolve(name);
    };
    const [admit, charge, release, renew] = ['admit', 'charge', 'release', 'renew'].map(call);
    return { admit, charge, release, renew } as unknown as LimitStore;
  };
  const limits = failOpenLimitStore(
    store('shared', () => failure),
    store('own', () => undefined),
    error => failures.push(error),
    () => known,
  );
  beforeEach(() => {
    asked = [];
    failures.length = 0;
    failure = known = undefined;
  });

  it('count where they are shared, and are given back in both', async () => {
    expect(await limits.admit(ADMISSION)).toBe('shared');
    await limits.charge(ADMISSION, SPENT);
    await limits.release(ADMISSION);
    await limits.renew([ADMISSION]);
    expect(asked).toEqual([
      'shared admit',
      'shared charge',
      'own release',
      'shared release',
      'own renew',
      'shared renew',
    ]);
    expect(failures).toEqual([]);
  });

  it('count here while the others cannot be reached, which is told each time', async () => {
    failure = new Error('away');
    expect(await limits.admit(ADMISSION)).toBe('own');
    await limits.charge(ADMISSION, SPENT);
    await limits.release(ADMISSION);
    expect(asked.filter(call => call.startsWith('own'))).toEqual([
      'own admit',
      'own charge',
      'own release',
    ]);
    expect(failures).toEqual([failure, failure, failure]);
  });

  it('ask nobody who is known not to answer', async () => {
    known = new Error('down');
    expect(await limits.admit(ADMISSION)).toBe('own');
    await limits.release(ADMISSION);
    expect(asked).toEqual(['own admit', 'own release']);
    expect(failures).toEqual([known, known]);
  });
});

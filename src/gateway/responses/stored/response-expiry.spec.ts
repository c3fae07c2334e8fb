import { expect, it } from '@jest/globals';
import { metricValues } from '../../../../test/support/metric-values.js';
import { type ResponseRecordStore } from '../../../platform/database/response-store.js';
import { type StoredLeases } from '../../stored-work/stored-leases.js';
import { ResponseExpiry } from './response-expiry.js';

it('removes expired responses in portions, with each sweep of stored work, and counts them', async () => {
  const portions = [200, 200, 3, 7];
  const leases = { sweeps: [] as (() => Promise<number>)[] };
  new ResponseExpiry(
    { expire: () => Promise.resolve(portions.shift()) } as unknown as ResponseRecordStore,
    leases as unknown as StoredLeases,
  );
  expect([await leases.sweeps[0]!(), portions]).toEqual([403, [7]]);
  expect(Object.values(await metricValues('switchyard_responses_expired_total'))).toEqual([403]);
});

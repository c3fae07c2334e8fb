import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { ids } from '../../support/scheduler-harness.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { type Answer, TwoGateways } from './two-gateways.js';

/** It starts two processes. */
const LIMIT_MS = 180_000;

const TENANTS = ['c', 'd'] as const;
type Tenant = (typeof TENANTS)[number];

describeWith(REDIS)('tenants at two gateways with one queue in Redis', () => {
  let harness: TwoGateways;
  let keys: KeysFolder;
  let key: ReadonlyMap<Tenant, string>;

  beforeAll(async () => {
    keys = new KeysFolder();
    key = new Map(TENANTS.map(tenant => [tenant, keys.add(tenant, 'inference')]));
    harness = await TwoGateways.start({ 'auth.keys_file': keys.file });
  }, LIMIT_MS);

  afterAll(async () => {
    await harness[Symbol.asyncDispose]();
  }, LIMIT_MS);

  /** All of a tenant's requests wait in Redis when this resolves. */
  const send = async (
    tenant: Tenant,
    names: readonly string[],
    before: number,
  ): Promise<Promise<Answer>[]> => {
    const gateway = tenant === 'c' ? harness.a : harness.b;
    const answers = names.map(id => harness.transcribe(gateway, id, bearer(key.get(tenant)!)));
    await harness.waiting(before + names.length);
    return answers;
  };
  /** Tenants in the order in which the one worker takes their requests. */
  const served = async (count: number): Promise<string> => {
    let tenants = '';
    for (let left = count; left > 0; left -= 1) {
      const held = await harness.puller.take();
      tenants += held.id[0];
      await held.complete();
    }
    return tenants;
  };

  it(
    'a new weight applies to what waits already',
    async () => {
      const answers = [...(await send('c', ids(6, 'c'), 0)), ...(await send('d', ids(4, 'd'), 6))];
      addApiKey(keys.file, {
        tenant: 'd',
        scopes: ['inference'],
        limits: { weight: 2 },
      });
      const names = new QueueKeys('switchyard');
      await harness.until('the weight is known', async () => {
        return (await harness.client.hget(names.weights, names.owner('d'))) === '2';
      });
      expect(await served(10)).toBe('cddcddcccc');
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    },
    LIMIT_MS,
  );
});

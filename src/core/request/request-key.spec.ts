import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { callersId, DEFAULT_TENANT, requestKey } from './request-key.js';

const tenants = fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/);
const ids = fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/);
/** As a path parameter may be: near misses of keys among them. */
const anyIds = fc.oneof(
  ids,
  fc.string(),
  fc.tuple(ids, tenants).map(([id, tenant]) => `${id}~${tenant}`),
);

describe('requestKey', () => {
  it('is one to one: two keys are equal exactly when tenant and id are', () => {
    const refs = fc.record({ tenant: fc.option(tenants, { nil: undefined }), id: anyIds });
    fc.assert(
      fc.property(refs, refs, (one, other) => {
        const same =
          one.id === other.id &&
          (one.tenant ?? DEFAULT_TENANT) === (other.tenant ?? DEFAULT_TENANT);
        return (requestKey(one) === requestKey(other)) === same;
      }),
    );
  });

  it('is the bare id for the default tenant', () => {
    expect(requestKey({ tenant: DEFAULT_TENANT, id: 'req_1' })).toBe('req_1');
  });
});

describe('callersId', () => {
  const tildes = fc.string({ unit: fc.constantFrom('~', 'a', 'b'), maxLength: 8 });

  it('gives every id back whole, also one that holds tildes', () => {
    const refs = fc.record({
      tenant: fc.option(tenants, { nil: undefined }),
      id: fc.oneof(anyIds, tildes),
    });
    fc.assert(fc.property(refs, ref => callersId(requestKey(ref)) === ref.id));
  });
});

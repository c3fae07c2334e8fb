import { describe, expect, it } from '@jest/globals';
import { forwardedUsers } from './forwarded-users.js';
import { type Principal } from './principal.js';
import { INTERNAL_KEY_ID } from './short-lived-tokens.js';

const HEADER = 'x-openwebui-user-id';
const principal = (keyId?: string, tenant = 'acme'): Principal => ({
  keyId,
  tenant,
  scopes: new Set(['inference'] as const),
});
const userOf = forwardedUsers('chat, 10.0.0.0/8');
const tenantFor = (user: string, { tenant = 'acme' } = {}) =>
  userOf(principal('chat', tenant), { headers: { [HEADER]: user }, ip: '192.0.2.1' }).tenant;

describe('a user that a caller names', () => {
  it.each([
    ['chat', '192.0.2.1', 'acme~ann'],
    ['other', '10.1.2.3', 'acme~ann'],
    ['other', '::ffff:10.1.2.3', 'acme~ann'],
    ['other', '192.0.2.1', 'acme'],
    [INTERNAL_KEY_ID, '10.1.2.3', 'acme'],
    [undefined, '10.1.2.3', 'acme'],
  ])('is believed of the key %s from %s as far as one is trusted: %s', (keyId, ip, tenant) => {
    const asked = principal(keyId);
    expect(userOf(asked, { headers: { [HEADER]: 'ann' }, ip })).toEqual({ ...asked, tenant });
    expect(userOf(asked, { headers: {}, ip })).toBe(asked);
  });

  it.each(['', 'a b', 'x'.repeat(65), ['ann', 'bob']])('cannot be %j', user => {
    const caller = { headers: { [HEADER]: user }, ip: '' };
    const refused = expect.objectContaining({ code: 'invalid_value', param: HEADER });
    expect(() => userOf(principal('chat'), caller)).toThrow(refused);
    expect(userOf(principal('other'), caller).tenant).toBe('acme');
  });

  it('is a tenant of at most 64 characters, the rest as a digest that no other user has', () => {
    const [longest, one, other] = ['x'.repeat(59), `${'x'.repeat(59)}1`, `${'x'.repeat(59)}2`];
    expect(tenantFor(longest)).toBe(`acme~${longest}`);
    expect(tenantFor(one)).toMatch(/^acme~[0-9a-f]{32}$/);
    expect(tenantFor(other)).not.toBe(tenantFor(one));
    const tenant = 't'.repeat(64);
    expect(tenantFor('ann', { tenant })).toMatch(/^t{31}~[0-9a-f]{32}$/);
  });
});

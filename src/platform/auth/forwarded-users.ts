import { createHash } from 'node:crypto';
import { type FastifyRequest } from 'fastify';
import { DomainError } from '../../core/errors/domain-error.js';
import { networksAndNames } from '../http/networks.js';
import { type Principal } from './principal.js';
import { INTERNAL_KEY_ID } from './short-lived-tokens.js';

const USER_HEADER = 'x-openwebui-user-id';
const USER = /^[A-Za-z0-9._-]{1,64}$/;
/** Longest name of a tenant, in characters. */
const LONGEST = 64;

/**
 * Open WebUI serves many people with one key and can say in headers for whom it asks.
 * Where its key or its address is trusted, each of its users is a tenant: `TENANT~USER`,
 * with files, batches, limits and a fair share of its own. No key and no claim can have a
 * tenant of such a name.
 * @param trusted ids of keys, addresses and networks such as 10.0.0.0/8, separated by
 *   commas; empty: none
 * @returns who asks: the key's tenant, or the user of it that a trusted caller names, with
 *   the scopes of the key. It throws DomainError `invalid_value` for a name that is none.
 */
export function forwardedUsers(
  trusted: string,
): (principal: Principal, caller: Pick<FastifyRequest, 'headers' | 'ip'>) => Principal {
  const { names: keys, networks } = networksAndNames(trusted);
  // The gateway's requests to itself carry their tenant; without keys there are no tenants.
  const isTrusted = ({ keyId = INTERNAL_KEY_ID }: Principal, address: string) =>
    keyId !== INTERNAL_KEY_ID && (keys.has(keyId) || networks.hasPeer(address));
  return (principal, { headers, ip }) => {
    const user = headers[USER_HEADER];
    if (user === undefined || !isTrusted(principal, ip)) return principal;
    if (typeof user !== 'string' || !USER.test(user))
      throw new DomainError(
        'invalid_value',
        `\`${USER_HEADER}\` must be 1 to 64 letters, digits and . _ -`,
        { param: USER_HEADER },
      );
    return { ...principal, tenant: tenantOf(principal.tenant, user) };
  };
}

/** A name that would be too long ends in a digest, so that two users never share one. */
function tenantOf(tenant: string, user: string): string {
  const name = `${tenant}~${user}`;
  if (name.length <= LONGEST) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `${tenant.slice(0, LONGEST - digest.length - 1)}~${digest}`;
}

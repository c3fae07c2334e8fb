/** Tenant of requests without one: all requests, while no keys are configured. */
export const DEFAULT_TENANT = 'default';

/**
 * A request as its caller names it. Callers choose ids, so an id is unique only within
 * its tenant (D-31).
 */
export interface RequestRef {
  /** Undefined: the default tenant. */
  readonly tenant: string | undefined;
  readonly id: string;
}

declare const requestKeyBrand: unique symbol;

/**
 * (tenant, id) as one string: the key of every map, lookup and cancel, and the
 * `request_id` that workers receive. Only `requestKey` creates one, so the compiler
 * rejects a bare id.
 */
export type RequestKey = string & { readonly [requestKeyBrand]: true };

/**
 * A one-to-one mapping: the id itself for the default tenant, else `ID~TENANT`. Tenant
 * names contain no `~`; one in an id is doubled.
 */
export function requestKey({ tenant = DEFAULT_TENANT, id }: RequestRef): RequestKey {
  const escaped = id.includes('~') ? id.replaceAll('~', '~~') : id;
  return (tenant === DEFAULT_TENANT ? escaped : `${escaped}~${tenant}`) as RequestKey;
}

/**
 * A tenant at the end of a key. The separator closes a run of `~` of odd length, since
 * those of the id are doubled.
 */
const TENANT = /(?<!~)((?:~~)*)~[^~]+$/;

/** The id as its caller knows it, from a key or from the `request_id` of a call. */
export const callersId = (key: string): string =>
  key.includes('~') ? key.replace(TENANT, '$1').replaceAll('~~', '~') : key;

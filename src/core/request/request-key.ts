/** Tenant of requests that name none: everybody, while no keys are asked for. */
export const DEFAULT_TENANT = 'default';

/** A request as its caller names it. Ids are chosen by callers, so an id without its tenant names nothing (D-31). */
export interface RequestRef {
  /** Undefined: the default tenant. */
  readonly tenant: string | undefined;
  readonly id: string;
}

declare const requestKeyBrand: unique symbol;

/**
 * (tenant, id) as one string: what every map, lookup and cancel is keyed by, and what workers are sent as `request_id`. Only
 * `requestKey` makes one, so the compiler refuses a bare id.
 */
export type RequestKey = string & { readonly [requestKeyBrand]: true };

/**
 * One to one. The id itself for the default tenant, else `ID~TENANT`: tenant names hold no `~`, and one in an id (a path parameter
 * may hold anything) is doubled.
 */
export function requestKey({ tenant = DEFAULT_TENANT, id }: RequestRef): RequestKey {
  const escaped = id.includes('~') ? id.replaceAll('~', '~~') : id;
  return (tenant === DEFAULT_TENANT ? escaped : `${escaped}~${tenant}`) as RequestKey;
}

/** A tenant at the end of a key. The separator closes a run of `~` of odd length, since those of the id are doubled. */
const TENANT = /(?<!~)((?:~~)*)~[^~]+$/;

/** The id as its caller knows it, from a key or from the `request_id` of a call. */
export const callersId = (key: string): string =>
  key.includes('~') ? key.replace(TENANT, '$1').replaceAll('~~', '~') : key;

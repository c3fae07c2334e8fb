import { type KeyTerms } from '../../core/access/key-terms.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';

/**
 * What a key may be allowed to do. `admin` sees and stops everything, of every tenant.
 */
export const KEY_SCOPES = ['inference', 'admin', 'events'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** `realtime` is a part of `inference` that short-lived tokens are cut down to. */
export type Scope = KeyScope | 'realtime';

/** Who is calling. */
export interface Principal {
  /** Id of the key, never the key; absent while no keys are asked for. */
  readonly keyId?: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly terms?: KeyTerms;
  /**
   * Unix milliseconds; of a token of the OIDC issuer: tokens made from it end with it.
   */
  readonly expiresAtMs?: number;
}

/** Every client while no keys are required: may do everything. */
export const ANYBODY: Principal = {
  tenant: DEFAULT_TENANT,
  scopes: new Set(KEY_SCOPES),
};

/** Who may send requests may also open live sessions. */
export function permits({ scopes }: Principal, scope: Scope): boolean {
  return scopes.has(scope) || (scope === 'realtime' && scopes.has('inference'));
}

/** @throws DomainError `missing_scope` unless one of `scopes` is held. */
export function demandScope(principal: Principal, ...scopes: readonly Scope[]): void {
  for (const scope of scopes) if (permits(principal, scope)) return;
  throw new DomainError('missing_scope', `This API key lacks the scope ${scopes.join(' or ')}.`);
}

/**
 * Its own requests, and everything for an admin. Others' requests are to look as if they
 * did not exist.
 */
export function mayTouch(principal: Principal, tenant: string = DEFAULT_TENANT): boolean {
  return principal.tenant === tenant || permits(principal, 'admin');
}

export const mayUse = (terms: KeyTerms | undefined, model: string): boolean =>
  terms?.models?.includes(model) ?? true;

/**
 * @param model canonical id @throws DomainError `model_not_found`, as if the model
 *   did not exist
 */
export function demandModel(terms: KeyTerms | undefined, model: string): void {
  if (mayUse(terms, model)) return;
  const message = `The model \`${model}\` does not exist, or this API key may not use it.`;
  throw new DomainError('model_not_found', message, { param: 'model' });
}

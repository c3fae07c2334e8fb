import { errors, type JWTPayload, jwtVerify } from 'jose';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { type Settings } from '../config/settings.js';
import { KEY_SCOPES, type Principal } from './principal.js';
import { IssuerKeys } from './issuer-keys.js';

/**
 * Head, payload and signature in base64url; an unsigned one is recognised, and rejected.
 */
const JWT = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;
const LONGEST_TOKEN = 8192;
const TENANT = /^[A-Za-z0-9._-]{1,64}$/;
/** It is part of the id that usage is counted for, and travels in a header. */
const SUBJECT = /^[\x21-\x7e]{1,200}$/;

/** Before the subject, in the key id of a token. No other key has a colon in its id. */
const KEY_ID_PREFIX = 'oidc:';

export const isIssuersKeyId = (keyId: string): boolean => keyId.startsWith(KEY_ID_PREFIX);

/** JWTs of the issuer of `auth.oidc_issuer`: who they are for, and what they allow. */
export class IssuerTokens {
  constructor(
    private readonly auth: Settings['auth'],
    private readonly keys = new IssuerKeys({
      issuer: auth.oidcIssuer,
      jwksUrl: auth.oidcJwksUrl,
    }),
  ) {}

  /** No API key and no short-lived token looks like it. */
  recognises(token: string): boolean {
    return JWT.test(token);
  }

  /** @throws DomainError `invalid_api_key` saying why, `issuer_unavailable` */
  async principalOf(token: string): Promise<Principal> {
    if (token.length > LONGEST_TOKEN)
      throw rejected(`it is longer than ${LONGEST_TOKEN} characters`);
    const {
      oidcIssuer: issuer,
      oidcAudience,
      oidcAlgorithms,
      oidcClockToleranceS: clockTolerance,
    } = this.auth;
    try {
      const { payload } = await jwtVerify(token, this.keys.find, {
        issuer,
        audience: listed(oidcAudience),
        algorithms: listed(oidcAlgorithms),
        clockTolerance,
        requiredClaims: ['exp', 'sub'],
      });
      return this.#principalOf(payload);
    } catch (error) {
      if (error instanceof DomainError) throw error;
      throw rejected(
        error instanceof errors.JOSEError
          ? error.message
          : 'the key that it names cannot be used',
      );
    }
  }

  #principalOf(claims: JWTPayload): Principal {
    const { oidcTenantClaim, oidcScopesClaim, oidcScopePrefix } = this.auth;
    const { sub = '', exp = 0 } = claims;
    if (!SUBJECT.test(sub))
      throw rejected('its claim `sub` must be 1 to 200 ASCII characters without spaces');
    const tenant =
      oidcTenantClaim === '' ? DEFAULT_TENANT : claimAt(claims, oidcTenantClaim);
    if (typeof tenant !== 'string' || !TENANT.test(tenant))
      throw rejected(
        `its claim \`${oidcTenantClaim}\` must be a tenant: 1 to 64 letters, digits and . _ -`,
      );
    const granted = words(claimAt(claims, oidcScopesClaim));
    const scopes = KEY_SCOPES.filter(scope => granted.includes(oidcScopePrefix + scope));
    const keyId = KEY_ID_PREFIX + sub;
    return {
      keyId,
      tenant,
      scopes: new Set(scopes),
      terms: { key: keyId },
      expiresAtMs: exp * 1000,
    };
  }
}

/**
 * The claim of that name, also if the name has dots, else the one at that path:
 * `realm_access.roles`.
 */
function claimAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined,
      claims,
    );
}

/** A list of texts, or one text with spaces (RFC 8693, 4.2). */
function words(claim: unknown): readonly unknown[] {
  return Array.isArray(claim) ? claim : typeof claim === 'string' ? claim.split(' ') : [];
}

const listed = (text: string): string[] => text.split(',').map(part => part.trim());

const rejected = (why: string): DomainError =>
  new DomainError('invalid_api_key', `The token of the issuer is not accepted: ${why}.`);

import { Logger } from '@nestjs/common';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { fieldsIn, isObject } from '@switchyard/engine-api/is-object.js';
import {
  errors,
  type JWTPayload,
  jwtVerify,
  createLocalJWKSet,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import { DomainError } from '../../core/errors/domain-error.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { type Settings } from '../config/settings.js';
import { listed } from '../http/networks.js';
import { issuerUnavailable } from '../http/passing-errors.js';
import { SafeFetch } from '../http/safe-fetch.js';
import { KEY_SCOPES, type Principal } from './principal.js';

/**
 * Known keys are fetched again after this time, so that a key which the
 * issuer withdrew ends.
 */
const REFRESH_MS = 600_000;

/** While the issuer does not answer, known keys are used for this long. */
const STALE_MS = 3_600_000;

/** Least time between two fetches, whatever tokens claim. */
const COOL_DOWN_MS = 30_000;

const FETCH = { timeoutMs: 5000, maxBytes: 262_144 } as const;

const MAX_KEYS = 100;

/**
 * The public keys of an OIDC issuer (its JWKS), cached. Fetched when first needed, when
 * they are old, and when a token names a key that is not among them; never twice at once,
 * and never within the cool-down.
 */
class IssuerKeys {
  readonly #logger = new Logger(IssuerKeys.name);
  readonly #fetch: SafeFetch;
  #known:
    | { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly atMs: number }
    | undefined;
  #triedAtMs = -Infinity;
  #fetching: Promise<void> | undefined;

  constructor(
    private readonly auth: Settings['auth'],
    private readonly nowMs: () => number,
  ) {
    // Hosts that the settings name may be in the operator's network; what a discovery
    // document names may not.
    const trusted = [auth.oidcIssuer, auth.oidcJwksUrl].filter(url => url !== '').map(hostOf);
    this.#fetch = new SafeFetch({ ...FETCH, allowHosts: trusted.join(',') });
  }

  /**
   * The key of a token, for `jwtVerify`. @throws DomainError
   * `issuer_unavailable`, JWKSNoMatchingKey
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.#ageMs >= REFRESH_MS) await this.#refresh();
    try {
      return await this.#keys()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#refresh();
      return this.#keys()(header, token);
    }
  };

  get #ageMs() {
    return this.nowMs() - (this.#known?.atMs ?? -Infinity);
  }

  get #coolsDown() {
    return this.nowMs() - this.#triedAtMs < COOL_DOWN_MS;
  }

  #keys() {
    if (this.#known && this.#ageMs < STALE_MS) return this.#known.keys;
    throw issuerUnavailable();
  }

  /** Never rejects: the keys stay as they were. */
  async #refresh() {
    if (this.#coolsDown && !this.#fetching) return;
    this.#fetching ??= this.#load().finally(() => (this.#fetching = undefined));
    await this.#fetching;
  }

  async #load() {
    this.#triedAtMs = this.nowMs();
    try {
      const url = this.auth.oidcJwksUrl || (await this.#discover());
      this.#known = {
        keys: createLocalJWKSet(keySet(await this.#json(url))),
        atMs: this.#triedAtMs,
      };
    } catch (error) {
      const { oidcIssuer: issuer } = this.auth;
      this.#logger.warn(
        { issuer, reason: (error as Error).message },
        'the keys of the issuer could not be fetched',
      );
    }
  }

  /** OpenID Connect Discovery 1.0, 4. */
  async #discover(): Promise<string> {
    const { oidcIssuer: issuer } = this.auth;
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const document = await this.#json(url);
    const { issuer: named, jwks_uri: keys } = fieldsIn(document);
    if (named !== issuer) throw new Error(`${url} is the document of another issuer`);
    if (typeof keys !== 'string' || !URL.canParse(keys))
      throw new Error(`${url} names no jwks_uri`);
    return keys;
  }

  async #json(url: string) {
    const bytes = await this.#fetch.bytes(url, new AbortController().signal);
    return parseBoundedJson(bytes.toString('utf8'));
  }
}

function keySet(document: unknown): JSONWebKeySet {
  const keys = isObject(document) ? document.keys : undefined;
  if (!Array.isArray(keys) || keys.length > MAX_KEYS || !keys.every(isObject))
    throw new Error(`the JWKS must have \`keys\`: a list of at most ${MAX_KEYS} keys`);
  return { keys };
}

function hostOf(url: string) {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
}

/** Tolerated difference from the clock of the issuer, in seconds. */
const CLOCK_TOLERANCE_S = 30;

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

/** JWTs of the issuer of `auth.oidc_issuer`: who they are for, and what they allow. */
export class IssuerTokens {
  readonly #keys: IssuerKeys;

  constructor(
    private readonly auth: Settings['auth'],
    nowMs = () => performance.now(),
  ) {
    this.#keys = new IssuerKeys(auth, nowMs);
  }

  /** No API key and no short-lived token looks like it. */
  recognises(token: string): boolean {
    return JWT.test(token);
  }

  /** True for the key id of a token. */
  hasId(keyId: string): boolean {
    return keyId.startsWith(KEY_ID_PREFIX);
  }

  /** @throws DomainError `invalid_api_key` saying why, `issuer_unavailable` */
  async principalOf(token: string): Promise<Principal> {
    if (token.length > LONGEST_TOKEN)
      throw rejected(`it is longer than ${LONGEST_TOKEN} characters`);
    const { oidcIssuer: issuer, oidcAudience, oidcAlgorithms } = this.auth;
    try {
      const { payload } = await jwtVerify(token, this.#keys.find, {
        issuer,
        audience: [...listed(oidcAudience)],
        algorithms: [...listed(oidcAlgorithms)],
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ['exp', 'sub'],
      });
      return this.#principalOf(payload);
    } catch (error) {
      if (error instanceof DomainError) throw error;
      throw rejected(
        error instanceof errors.JOSEError ? error.message : 'the key that it names cannot be used',
      );
    }
  }

  #principalOf(claims: JWTPayload): Principal {
    const { oidcTenantClaim, oidcScopesClaim, oidcScopePrefix } = this.auth;
    const { sub = '', exp = 0 } = claims;
    if (!SUBJECT.test(sub))
      throw rejected('its claim `sub` must be 1 to 200 ASCII characters without spaces');
    const tenant = oidcTenantClaim === '' ? DEFAULT_TENANT : claimAt(claims, oidcTenantClaim);
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
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      claims,
    );
}

/** A list of texts, or one text with spaces (RFC 8693, 4.2). */
function words(claim: unknown): readonly unknown[] {
  return Array.isArray(claim) ? claim : typeof claim === 'string' ? claim.split(' ') : [];
}

const rejected = (why: string): DomainError =>
  new DomainError('invalid_api_key', `The token of the issuer is not accepted: ${why}.`);

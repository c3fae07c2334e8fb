import { createHmac, randomBytes } from 'node:crypto';
import { type Principal } from './principal.js';
import { ShortLivedTokens } from './short-lived-tokens.js';

/** One line is sent with one token; longer than any request may last (D-07). */
const TTL_S = 3600;

/**
 * Tokens with which a batch processor sends the lines of a job in the name of its tenant: callers' keys are never stored
 * (LESSONS "Batch jobs"). They need no key, so withdrawing one does not stop the batches it created.
 */
export class InternalTokens {
  readonly #tokens: ShortLivedTokens;

  /** @param secret random when absent */
  constructor(readonly secret: Buffer = randomBytes(32)) {
    this.#tokens = new ShortLivedTokens(secret);
  }

  /**
   * From `auth.token_secret_file`, the same for gateways and processors that run apart. Derived: a processor's secret signs
   * nothing but its own tokens.
   */
  static sharing(secret: Buffer): InternalTokens {
    return new InternalTokens(createHmac('sha256', secret).update('switchyard batch processor').digest());
  }

  mint(tenant: string): string {
    const principal: Principal = { tenant, scopes: new Set(['inference']) };
    return this.#tokens.mint({ principal, scopes: ['inference'], ttlS: TTL_S }).token;
  }

  /** Undefined: not one of ours, changed on the way, or expired. */
  verify(token: string): Principal | undefined {
    return this.#tokens.verify(token);
  }
}

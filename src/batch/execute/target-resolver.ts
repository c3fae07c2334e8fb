import { isDeepStrictEqual } from 'node:util';
import { internalTokens } from '../../platform/auth/internal-tokens.js';
import { type ProcessorLink } from '../../platform/config/processor-link.js';
import { requiresKeys, type Settings } from '../../platform/config/settings.js';
import { ConfigError } from '../../platform/config/yaml-file.js';
import { type LineOwner, LineTarget, type TargetSpec } from './line-target.js';
import { addressesOf, type Targets } from './targets-file.js';

export interface GatewayAccess {
  readonly urls: readonly string[];
  authorization(owner: LineOwner): string | undefined;
}

/**
 * Addresses of the gateway, and the token that authorizes lines: one per tenant and key,
 * signed with the gateway's secret. A processor that was started by hand reads that
 * secret from `auth.token_secret_file`.
 * @throws ConfigError when keys are required and no secret is known
 */
export function gatewayAccess(
  settings: Settings,
  link: ProcessorLink | undefined,
): GatewayAccess {
  const { server, auth, batch } = settings;
  const host =
    server.host === '0.0.0.0' || server.host === '::' ? '127.0.0.1' : server.host;
  const named = batch.gatewayUrl || link?.gatewayUrl;
  const urls = addressesOf(
    named ?? `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
  );
  const tokens = internalTokens(auth, link?.tokenSecret);
  // A token is sent where no keys are required, too: the first key of the database may
  // come at any time.
  if (!tokens) {
    if (!requiresKeys(settings)) return { urls, authorization: () => undefined };
    const message =
      'a separately run batch processor needs the secret that the gateway signs tokens with';
    throw new ConfigError([{ origin: 'auth.token_secret_file', message }]);
  }
  return {
    urls,
    authorization: owner => `Bearer ${tokens.tokenFor(owner.tenant, owner.terms)}`,
  };
}

/** Maps models to targets. Entries with equal settings share one connection pool. */
export class TargetResolver {
  readonly #pools: LineTarget[] = [];
  readonly #byModel = new Map<string, LineTarget>();
  readonly #global: LineTarget | undefined;

  constructor(
    private readonly targets: Targets,
    maxResponseBytes: number,
  ) {
    const pool = (spec: TargetSpec): LineTarget => {
      const known = this.#pools.find(({ spec: other }) => sameTarget(spec, other));
      if (known) return known;
      const target = new LineTarget(spec, maxResponseBytes);
      this.#pools.push(target);
      return target;
    };
    if (targets.kind === 'global') this.#global = pool(targets.target);
    else
      for (const [model, spec] of targets.targets) this.#byModel.set(model, pool(spec));
  }

  /**
   * Models named in the configuration. Other names come from clients and are
   * never metric labels.
   */
  get knownModels(): readonly string[] {
    return [...this.#byModel.keys()];
  }

  /**
   * @returns undefined if the model is not listed: its lines fail with `model_not_found`
   */
  targetOf(model: string): LineTarget | undefined {
    return this.#global ?? this.#byModel.get(model);
  }

  close(): void {
    for (const target of this.#pools) target.close();
  }
}

function sameTarget(a: TargetSpec, b: TargetSpec): boolean {
  const plain = (target: TargetSpec): object => ({
    ...target,
    authorization: target.authorization({ tenant: '' }),
  });
  return isDeepStrictEqual(plain(a), plain(b));
}

/** The gateway as a target. */
export function gatewayTarget(
  { batch }: Settings,
  urls: readonly string[],
  authorization: (owner: LineOwner) => string | undefined,
): TargetSpec {
  return {
    urls,
    requestTimeoutMs: batch.requestTimeoutMs,
    retries: {
      attempts: batch.attempts,
      busyAttempts: batch.busyAttempts,
      initialMs: batch.backoffMinMs,
      maxMs: batch.backoffMaxMs,
    },
    tls: { insecureSkipVerify: false },
    fetchesFileUrl: true,
    authorization,
  };
}

import { isDeepStrictEqual } from 'node:util';
import { internalTokens } from '../../platform/auth/internal-tokens.js';
import { ConfigError } from '../../platform/config/config-problem.js';
import type { ProcessorLink } from '../../platform/config/processor-link.js';
import type { Settings } from '../../platform/config/settings.js';
import { LineTarget, type TargetSpec } from './line-target.js';
import { addressesOf, type Targets } from './targets-file.js';

export interface GatewayAccess {
  readonly urls: readonly string[];
  authorization(tenant: string): string | undefined;
}

/**
 * Where the gateway is and how its lines are let in: by a token of the job's tenant, signed with the gateway's secret. A
 * processor that was started by hand shares that secret through `auth.token_secret_file`.
 * @throws ConfigError when keys are asked for and no secret is known
 */
export function gatewayAccess(settings: Settings, link: ProcessorLink | undefined): GatewayAccess {
  const { server, auth, batch } = settings;
  const host = server.host === '0.0.0.0' || server.host === '::' ? '127.0.0.1' : server.host;
  const named = batch.gatewayUrl || link?.gatewayUrl;
  const urls = addressesOf(named ?? `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`);
  if (auth.keysFile === '') return { urls, authorization: () => undefined };
  const tokens = internalTokens(auth, link?.tokenSecret);
  if (!tokens) {
    const message = 'a batch processor of its own needs the secret that its gateway signs tokens with';
    throw new ConfigError([{ origin: 'auth.token_secret_file', message }]);
  }
  return { urls, authorization: tenant => `Bearer ${tokens.tokenFor(tenant)}` };
}

/** Which target the lines of a model go to. Entries with the same settings share one pool of connections. */
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
    else for (const [model, spec] of targets.targets) this.#byModel.set(model, pool(spec));
  }

  /** Models that are named by configuration; anything else is a client's text, and no label of a metric. */
  get knownModels(): readonly string[] {
    return [...this.#byModel.keys()];
  }

  /** Undefined: the model is not listed, and its lines are `model_not_found`. */
  targetOf(model: string): LineTarget | undefined {
    return this.#global ?? this.#byModel.get(model);
  }

  close(): void {
    for (const target of this.#pools) target.close();
  }
}

function sameTarget(a: TargetSpec, b: TargetSpec): boolean {
  const plain = (target: TargetSpec): object => ({ ...target, authorization: target.authorization('') });
  return isDeepStrictEqual(plain(a), plain(b));
}

/** The gateway, at BATCH priority. */
export function gatewayTarget(
  { batch }: Settings,
  urls: readonly string[],
  authorization: (tenant: string) => string | undefined,
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
    takesFileUrl: true,
    authorization,
  };
}

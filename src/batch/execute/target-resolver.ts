import { isDeepStrictEqual } from 'node:util';
import { type OnApplicationShutdown } from '@nestjs/common';
import { probePauses } from '../../core/jobs/reachability.js';
import { internalTokens } from '../../platform/auth/internal-tokens.js';
import { type ProcessorLink } from '../../platform/config/processor-link.js';
import { requiresKeys, type Settings } from '../../platform/config/settings.js';
import { ConfigError } from '../../platform/config/yaml-file.js';
import { LineTarget, type TargetSpec } from './line-target.js';
import { TargetGate } from './target-gate.js';
import { addressesOf, type Targets } from './targets-file.js';

/**
 * The gateway as a target. Its token that authorizes lines is made for each tenant and
 * key, and signed with the gateway's secret; a processor that was started by hand reads
 * that secret from `auth.token_secret_file`.
 * @throws ConfigError when keys are required and no secret is known
 */
export function gatewayTarget(
  settings: Settings,
  link: ProcessorLink | undefined,
): TargetSpec {
  const { auth, batch } = settings;
  const tokens = internalTokens(auth, link?.tokenSecret);
  if (!tokens && requiresKeys(settings)) {
    const message =
      'a separately run batch processor needs the secret that the gateway signs tokens with';
    throw new ConfigError([{ origin: 'auth.token_secret_file', message }]);
  }
  return {
    urls: addressesOf(batch.gatewayUrl || (link?.gatewayUrl ?? ownAddress(settings))),
    requestTimeoutMs: batch.requestTimeoutMs,
    retries: {
      attempts: batch.attempts,
      busyAttempts: batch.busyAttempts,
      initialMs: batch.backoffMinMs,
      maxMs: batch.backoffMaxMs,
    },
    tls: { insecureSkipVerify: false },
    fetchesFileUrl: true,
    // Also where no keys are required: the first key of the database may come at
    // any time.
    authorization: ({ tenant, terms }) =>
      tokens && `Bearer ${tokens.tokenFor(tenant, terms)}`,
  };
}

function ownAddress({ server: { host, port } }: Settings): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

/** For a model without a target, whose lines are never sent. */
const NO_RETRIES = { initialMs: 0, maxMs: 0 };

/** Maps models to targets. Entries with equal settings share one connection pool. */
export class TargetResolver implements OnApplicationShutdown {
  readonly #pools: LineTarget[] = [];
  readonly #byModel = new Map<string, LineTarget>();
  readonly #global: LineTarget | undefined;
  readonly #gates = new Map<string, TargetGate>();

  constructor(
    targets: Targets,
    private readonly limits: Pick<
      Settings['batch'],
      'maxResponseBytes' | 'concurrencyPerModel'
    >,
  ) {
    const pool = (spec: TargetSpec): LineTarget => {
      const known = this.#pools.find(({ spec: other }) => sameTarget(spec, other));
      if (known) return known;
      const target = new LineTarget(spec, limits.maxResponseBytes);
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

  /** The slots of a model at its target, shared by all jobs. */
  gateOf(model: string): TargetGate {
    const known = this.#gates.get(model);
    if (known) return known;
    const pauses = probePauses(this.targetOf(model)?.spec.retries ?? NO_RETRIES);
    const gate = new TargetGate(this.limits.concurrencyPerModel, pauses);
    this.#gates.set(model, gate);
    return gate;
  }

  /** Lines in flight per model. */
  *inFlight(): Generator<{ model: string; inFlight: number }> {
    for (const [model, { inFlight }] of this.#gates) yield { model, inFlight };
  }

  onApplicationShutdown(): void {
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

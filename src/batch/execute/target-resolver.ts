import { isDeepStrictEqual } from 'node:util';
import { type Settings } from '../../platform/config/settings.js';
import { LineTarget, type TargetSpec } from './line-target.js';
import { type Targets } from './targets-file.js';

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

import { type Redis } from 'ioredis';
import { type QueueKeys } from '../keys.js';
import { ORDER_SCRIPTS, type orderScript } from './redis-order-scripts.js';

/** A tenant with waiting jobs, oldest first. */
interface WaitingTenant {
  readonly isRealtime: boolean;
  /** The tenant as in job ids. */
  readonly owner: string;
  readonly startTag: number;
  readonly weight: number;
  /** Others go before it (D-51). */
  readonly isSuspect: boolean;
  readonly jobs: readonly {
    readonly id: string;
    /** Epoch milliseconds; a fraction keeps those of one millisecond in order. */
    readonly sinceMs: number;
    readonly costMs: number;
  }[];
}

export interface QueueAccounts {
  /** Credit of the turns of aged jobs (D-03). */
  readonly agingCredit: number;
  /** Jobs without an account, those that go next first. */
  readonly others: readonly string[];
  /** Places of text whose gateway reaches no worker now. */
  readonly parked: readonly string[];
  readonly tenants: readonly WaitingTenant[];
}

/**
 * The order in which workers take the jobs of a queue (D-03, D-25), with the accounts of
 * its tenants in Redis: the rules of `core/queue` as one family of scripts. All jobs are
 * in BullMQ's set of waiting jobs all the time, so none can be lost or taken twice here;
 * the scripts only change places in that set. Each keeps the accounts whole, whoever dies
 * between two of them.
 */
export class RedisOrder {
  constructor(
    private readonly options: {
      readonly redis: Redis;
      readonly keys: QueueKeys;
      /** `queue.aging_ms` */
      readonly agingMs: number;
      /** `queue.aging_share` */
      readonly agingShare: number;
    },
  ) {}

  /** Gives new jobs their places. @param weight of the tenant that sent one */
  async sort(
    model: string,
    weight?: { readonly owner: string; readonly weight: number },
  ): Promise<void> {
    await this.#run('sort', model, weight ? [weight.owner, weight.weight] : []);
  }

  /**
   * Puts the job whose turn it is before all others, and charges its tenant: call before
   * each take, for one job.
   * @returns its id; undefined: none waits
   */
  async release(model: string): Promise<string | undefined> {
    const { agingMs, agingShare } = this.options;
    return (
      ((await this.#run('release', model, [agingMs, agingShare])) as string | null) ?? undefined
    );
  }

  /** A waiting job was removed. */
  async leave(model: string, jobId: string): Promise<void> {
    await this.#run('leave', model, [jobId]);
  }

  /**
   * A job took so long on a device: its tenant is charged that instead of the estimate.
   * Call before it is completed.
   */
  async settle(model: string, jobId: string, deviceMs: number): Promise<void> {
    await this.#run('settle', model, [jobId, deviceMs]);
  }

  /** Splits device milliseconds among the tenants whose jobs wait or run, by their number. */
  async charge(model: string, ms: number): Promise<void> {
    await this.#run('charge', model, [ms]);
  }

  /** How many jobs a tenant has waiting, and how many tenants wait. */
  async load(
    model: string,
    owner: string,
  ): Promise<{ readonly requests: number; readonly tenants: number }> {
    const [requests, tenants] = (await this.#run('load', model, [owner])) as [number, number];
    return { requests, tenants };
  }

  async accounts(model: string): Promise<QueueAccounts> {
    const [[credit] = [], others = [], parked = [], costs = [], ...rows] = (await this.#run(
      'read',
      model,
      [],
    )) as string[][];
    const costOf = new Map(pairsOf(costs));
    return {
      agingCredit: Number(credit),
      others,
      parked,
      tenants: rows.map(row => tenantOf(row, costOf)),
    };
  }

  async #run(
    name: keyof typeof ORDER_SCRIPTS,
    model: string,
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return runOrderScript(this.options, model, ORDER_SCRIPTS[name], args);
  }
}

/** @param args after the two that every script has. @throws while Redis is away */
export async function runOrderScript(
  { redis, keys }: { readonly redis: Redis; readonly keys: QueueKeys },
  model: string,
  { sha, text }: ReturnType<typeof orderScript>,
  args: readonly (string | number)[],
): Promise<unknown> {
  const [base, shares] = [keys.base(model), keys.shares(keys.queue(model))];
  const places = [`${base}prioritized`, `${shares}state`, keys.weights] as const;
  const call = [places.length, ...places, base, shares, ...args] as const;
  try {
    return await redis.evalsha(sha, ...call);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    return redis.eval(text, ...call);
  }
}

function tenantOf(
  [lane, owner = '', tag, weight, suspect, ...jobs]: readonly string[],
  costs: ReadonlyMap<string, string>,
): WaitingTenant {
  const waiting = pairsOf(jobs).map(([id, sinceMs]) => ({
    id,
    sinceMs: Number(sinceMs),
    costMs: Number(costs.get(id) ?? 1),
  }));
  return {
    isRealtime: lane === '2',
    owner,
    startTag: Number(tag),
    weight: Number(weight),
    isSuspect: suspect === '1',
    jobs: waiting,
  };
}

/** Redis lists the fields of a hash, or members and scores, one after the other. */
export const pairsOf = (flat: readonly string[]): [name: string, value: string][] =>
  Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at]!, flat[2 * at + 1]!]);

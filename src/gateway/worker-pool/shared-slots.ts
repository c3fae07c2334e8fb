import { hostname } from 'node:os';
import { type PooledWorker } from './pooled-worker.js';

const NO_SLOTS = { credits: 0, overdraft: 0, inUse: 0 };

/** Slots of a worker that several gateways send to. */
export interface SharedSlots {
  readonly workerId: string;
  /** Name of these slots at all gateways. */
  readonly account: string;
  readonly credits: number;
  /** Slots that REALTIME may take in addition. */
  readonly overdraft: number;
  /** Slots that requests of this gateway hold. */
  readonly inUse: number;
  /** One process has the requests of all gateways: its shares of device time are true. */
  readonly measuresAll: boolean;
}

/**
 * Slots of the workers that take requests now. Undefined if some belong to one gateway alone,
 * or none is up yet.
 */
export function sharedSlots(workers: readonly PooledWorker[]): readonly SharedSlots[] | undefined {
  if (workers.length === 0 || workers.some(worker => accountOf(worker) === undefined))
    return undefined;
  return workers.flatMap(worker => slotsAt(worker) ?? []);
}

/** As `sharedSlots`, for live streams. Undefined also: the worker has none. */
export function sharedStreams(
  workers: readonly PooledWorker[],
): readonly SharedSlots[] | undefined {
  if (!workers.every(({ options }) => options.isRemote || options.model.device)) return undefined;
  const shared = workers.flatMap(worker => {
    const { total = 0, inUse = 0 } = worker.streams ?? {};
    const account = accountOf(worker) ?? worker.id;
    const slots = { workerId: worker.id, account, credits: total, overdraft: 0, inUse };
    return total > 0 ? [{ ...slots, measuresAll: true }] : [];
  });
  return shared.length > 0 ? shared : undefined;
}

/** Undefined for a worker that only this gateway sends to. */
function accountOf({ id, options }: PooledWorker): string | undefined {
  const { isRemote, model, location } = options;
  if (isRemote) return id;
  // One gateway of a machine runs its process, and all send to it.
  if (model.device) return `${id}.${hostname()}.${location.status.pid}`;
  return model.engine === 'openai-http' ? `${id} ${String(model.options.baseUrl)}` : undefined;
}

function slotsAt(worker: PooledWorker): SharedSlots | undefined {
  const account = accountOf(worker);
  const limit = limitOf(worker);
  if (account === undefined || !limit) return undefined;
  const { isShared, isRemote = false, location } = worker.options;
  const measuresAll = isRemote || isShared || location.isElsewhere === true;
  return { workerId: worker.id, account, ...limit, measuresAll };
}

/** Undefined: nothing is to be sent there from here. */
function limitOf(worker: PooledWorker) {
  const { slots, options } = worker;
  // While it has a process, its gateway says for all that nothing is to be sent there.
  const isOwn = options.isShared && options.location.status.pid !== undefined;
  const none = isOwn ? NO_SLOTS : undefined;
  if (!slots) return none;
  const { inUse, total, overdraft } = slots;
  // After a failure it is on trial: what it is offered, and no more.
  const isOnTrial = worker.state === 'suspended';
  const credits = isOnTrial ? inUse + (worker.offer()?.free ?? 0) : total;
  return credits > 0 ? { credits, overdraft: isOnTrial ? 0 : overdraft, inUse } : none;
}

import { DomainError } from '../../core/shared/domain-error.js';
import { type PooledWorker } from './pooled-worker.js';

/** When to try again: places come back when somebody hangs up. */
const TRY_AGAIN_MS = 1000;

/** The worker that takes the next live stream of `model`. @throws DomainError as `WorkerPoolService.openStream`. */
export function streamHost(model: string, workers: readonly PooledWorker[]): PooledWorker {
  const best = workers.reduce<PooledWorker | undefined>(
    (roomiest, worker) => (worker.freeStreams > (roomiest?.freeStreams ?? 0) ? worker : roomiest),
    undefined,
  );
  if (best) return best;
  const ready = workers.map(worker => worker.view()).filter(({ state }) => state === 'ready' || state === 'busy');
  if (ready.length === 0)
    throw new DomainError('no_worker', `No worker of ${model} is ready.`, { retryAfterMs: TRY_AGAIN_MS });
  const total = ready.reduce((sum, { streams }) => sum + streams, 0);
  if (total === 0) throw new DomainError('unsupported_task', `The model \`${model}\` has no live streams.`);
  throw new DomainError('queue_full', `All ${total} live streams of \`${model}\` are taken; try again later.`, {
    retryAfterMs: TRY_AGAIN_MS,
  });
}

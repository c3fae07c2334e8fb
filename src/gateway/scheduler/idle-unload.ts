import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type ModelView } from '../worker-pool/worker-view.js';

/** `idle_unload_s` is in seconds, so one check per second is exact enough. */
const INTERVAL_MS = 1000;

/**
 * Stops the workers of models without requests for `idle_unload_s`. The next request
 * starts them again.
 */
@Injectable()
export class IdleUnload implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(IdleUnload.name);
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly queue: PriorityQueue,
  ) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => this.check(), INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  /** Unloads what has been idle for long enough now. */
  check(): void {
    for (const model of this.pool.models()) {
      // Pulled work is not sent by the pool, and may belong to another gateway.
      if (model.workers.some(({ health }) => (health?.inFlight ?? 0) > 0))
        this.pool.of(model.id)?.demand();
      if (!this.#isIdle(model)) continue;
      this.#logger.log({ model: model.id, idleS: Math.floor(model.idleMs / 1000) }, 'idle');
      void this.pool.of(model.id)?.unload(false);
    }
  }

  /** A request that waits for a starting worker counts as work. */
  #isIdle({ id, state, idleMs, running, idleUnloadS = Infinity }: ModelView): boolean {
    const { realtime, batch } = this.queue.depthOf(id);
    if (state === 'unloaded' || state === 'unloading' || state === 'loading') return false;
    return running === 0 && realtime + batch === 0 && idleMs >= idleUnloadS * 1000;
  }
}

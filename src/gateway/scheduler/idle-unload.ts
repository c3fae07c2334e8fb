import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { type ModelView } from '../worker-pool/model-view.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerTask } from '../worker-pool/worker-task.js';

/** `idle_unload_s` is in seconds: looking once a second is as exact as it says. */
const INTERVAL_MS = 1000;

/** Stops the workers of models that nobody needed for `idle_unload_s`. The next request starts them again. */
@Injectable()
export class IdleUnload implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(IdleUnload.name);
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly queue: PriorityQueue<WorkerTask>,
  ) {}

  /** Without such a model there is nothing to look at. */
  onApplicationBootstrap(): void {
    if (!this.pool.models().some(({ idleUnloadS }) => idleUnloadS !== undefined)) return;
    this.#timer = setInterval(() => this.look(), INTERVAL_MS);
    this.#timer.unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  /** Unloads what has been idle for long enough now. */
  look(): void {
    for (const model of this.pool.models()) {
      // Work that it pulled is not sent by the pool, and may be another gateway's.
      if (model.workers.some(({ health }) => (health?.inFlight ?? 0) > 0)) this.pool.demand(model.id);
      if (!this.#isIdle(model)) continue;
      this.#logger.log({ model: model.id, idleS: Math.floor(model.idleMs / 1000) }, 'idle');
      void this.pool.unload(model.id, false);
    }
  }

  /** What waits for a worker that is starting or restarting is work too. */
  #isIdle({ id, state, idleMs, running, idleUnloadS = Infinity }: ModelView): boolean {
    const { realtime, batch } = this.queue.depthOf(id);
    if (state === 'unloaded' || state === 'unloading' || state === 'loading') return false;
    return running === 0 && realtime + batch === 0 && idleMs >= idleUnloadS * 1000;
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { type WorkerAnnouncement } from '../../contracts/queue-jobs/queue-messages.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { SharedQueue } from '../shared-queue/shared-queue.service.js';
import { type ModelView } from '../worker-pool/model-view.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type WorkerView } from '../worker-pool/worker-view.js';

/** All workers: those of the pool, and those that pull and say so themselves. */
@Injectable()
export class FleetWorkers {
  readonly #pulled: ReadonlySet<string>;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly plane: SharedQueue,
    @Inject(MODELS) models: readonly ModelSpec[],
  ) {
    this.#pulled = new Set(models.filter(({ kind }) => kind !== 'llm').map(({ id }) => id));
  }

  models(): ModelView[] {
    return this.pool.models().map(view => this.#overlaid(view));
  }

  model(id: string): ModelView | undefined {
    const view = this.pool.model(id);
    return view && this.#overlaid(view);
  }

  /** A local worker that pulls is in the pool already. */
  workers(): WorkerView[] {
    const pooled = this.pool.workers();
    return [...pooled, ...this.#others(pooled)];
  }

  /** Requests are pulled: a worker that the pool could send them to is no help, one that pulls is. */
  #overlaid(view: ModelView): ModelView {
    if (!this.plane.enabled || !this.#pulled.has(view.id)) return view;
    if (!this.plane.usable) return { ...view, state: 'failed', reason: 'the queue in Redis is away or full' };
    const workers = [...view.workers, ...this.#others(view.workers, view.id)];
    const state = this.plane.hasReady(view.id) ? 'loaded' : view.state === 'loaded' ? 'loading' : view.state;
    return { ...view, state, workers };
  }

  /** Those that pull and are no process of this gateway: a local one announces its id with its host and pid behind. */
  #others(pooled: readonly WorkerView[], model?: string): WorkerView[] {
    const isOurs = ({ id, pid }: WorkerAnnouncement) =>
      pooled.some(own => own.id === id || (own.pid === pid && id.startsWith(`${own.id}.`)));
    return this.plane
      .workers(model)
      .filter(announced => !isOurs(announced))
      .map(workerView);
  }
}

function workerView({ id, model, pid, health, slots }: WorkerAnnouncement): WorkerView {
  const { total, inUse } = slots;
  const state = health.state === 'ready' && inUse > 0 ? 'busy' : health.state;
  return {
    ...{ id, model, pid, state, health, restarts: 0, streams: 0, streamsInUse: 0 },
    slots: { total, inUse, free: Math.max(0, total - inUse) },
    ...(health.device !== '' && { device: health.device }),
  };
}

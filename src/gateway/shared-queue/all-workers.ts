import { Injectable } from '@nestjs/common';
import { type WorkerAnnouncement } from '../../contracts/queue-jobs/queue-messages.js';
import { ModelList } from '../../platform/config/config.module.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import {
  type ModelView,
  type WorkerView,
  type WorkerOrder,
} from '../worker-pool/worker-view.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { WorkerDirectory } from './worker-directory.js';

/** All workers: those of the pool, and those that pull from the shared queue. */
@Injectable()
export class AllWorkers {
  constructor(
    private readonly pool: WorkerPoolService,
    private readonly link: SharedQueueLink,
    private readonly directory: WorkerDirectory,
    private readonly list: ModelList,
  ) {}

  /** Some worker of the model that requests can be sent to takes work now. */
  hasPushed(model: string): boolean {
    return this.pool.hasReady(model);
  }

  /** Some worker of the model that pulls takes work now. */
  hasPulling(model: string): boolean {
    return this.directory.hasReady(model);
  }

  models(): ModelView[] {
    return this.pool.models().map(view => this.#withPulling(view));
  }

  model(id: string): ModelView | undefined {
    const view = this.pool.model(id);
    return view && this.#withPulling(view);
  }

  workers(): WorkerView[] {
    const pooled = this.pool.workers();
    const views = pooled.map(view => ({
      ...view,
      drained: view.drained || this.#pulling(view)?.drained,
    }));
    return [...views, ...this.#others(pooled)];
  }

  /**
   * Drains or resumes a worker, whether requests are sent to it or it pulls them; one
   * that pulls cannot be restarted from here. @throws DomainError `worker_not_found`,
   * `worker_not_supervised`, `queue_unavailable`
   */
  async order(id: string, order: WorkerOrder): Promise<WorkerView> {
    const worker = this.#find(id);
    const pulling = order === 'restart' ? undefined : this.#pulling(worker);
    if (!pulling) this.pool.order(id, order);
    else await this.directory.drain(pulling.id, order === 'drain');
    const view = this.#find(id);
    return pulling ? { ...view, drained: order === 'drain' } : view;
  }

  #find(id: string): WorkerView {
    const worker = this.workers().find(candidate => candidate.id === id);
    if (!worker) throw new DomainError('worker_not_found', `There is no worker ${id}.`);
    return worker;
  }

  /** As what it announces itself; undefined: it does not pull. */
  #pulling(worker: WorkerView): WorkerAnnouncement | undefined {
    return this.directory.workers().find(announced => isThe(worker, announced));
  }

  /**
   * Where requests are pulled, a worker that only the pool could send them to does not
   * count as ready.
   */
  #withPulling(view: ModelView): ModelView {
    if (!this.link.enabled || this.list.find(view.id)?.kind === 'llm') return view;
    if (!this.link.usable)
      return {
        ...view,
        state: 'failed',
        reason: 'the queue in Redis is unreachable or full',
      };
    const workers = [...view.workers, ...this.#others(view.workers, view.id)];
    const state = this.hasPulling(view.id)
      ? 'loaded'
      : view.state === 'loaded'
        ? 'loading'
        : view.state;
    return { ...view, state, workers };
  }

  /** Pulling workers that are not in the pool. */
  #others(pooled: readonly WorkerView[], model?: string): WorkerView[] {
    return this.directory
      .workers(model)
      .filter(announced => !pooled.some(own => isThe(own, announced)))
      .map(workerView);
  }
}

/** A local worker announces its id, followed by its host and pid. */
const isThe = ({ id, pid }: WorkerView, announced: WorkerAnnouncement): boolean =>
  announced.id === id || (announced.pid === pid && announced.id.startsWith(`${id}.`));

function workerView({
  id,
  model,
  pid,
  health,
  drained,
  slots: { total, inUse },
}: WorkerAnnouncement): WorkerView {
  return {
    ...{ id, model, pid, drained },
    state: health.state === 'ready' && inUse > 0 ? 'busy' : health.state,
    slots: { total, inUse, free: Math.max(0, total - inUse) },
    streams: 0,
    streamsInUse: 0,
    device: health.device === '' ? undefined : health.device,
    restarts: 0,
    health,
  };
}

import { Injectable, Logger } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { ModelList } from '../../platform/config/config.module.js';
import { ConfigError } from '../../platform/config/yaml-file.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type ModelView } from '../worker-pool/worker-view.js';

/**
 * Loads and unloads models at run time: the pool's workers and the line in front
 * of them together.
 */
@Injectable()
export class ModelSwitch {
  readonly #logger = new Logger(ModelSwitch.name);

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly cancellations: CancellationManager,
    private readonly list: ModelList,
    private readonly swaps: DeviceSwaps,
  ) {}

  /** @throws DomainError `model_not_found` */
  find(id: string): ModelView {
    const model = this.pool.of(id)?.view();
    if (!model) throw new DomainError('model_not_found', `There is no model ${id}.`);
    return model;
  }

  /** Does not wait for its workers. @throws DomainError `model_not_found`, `worker_not_supervised` */
  load(id: string): ModelView {
    this.#own(id);
    this.pool.of(id)?.load();
    return this.find(id);
  }

  /**
   * Running requests finish. Those that wait start an `on_request` model again; of any
   * other they end as `model_unloaded`, and so do new ones until it is loaded. Does not
   * wait for the end. @throws DomainError `model_not_found`, `worker_not_supervised`
   */
  async unload(id: string): Promise<ModelView> {
    const hold = this.#own(id).autostart === 'always';
    const unloaded = this.pool.of(id)?.unload(hold);
    unloaded?.then(
      // A worker may have died in the meantime and its requests be waiting again.
      () => this.#clearLine(id),
      (error: unknown) => this.#logger.error({ err: error, model: id }, 'unloading failed'),
    );
    await this.#clearLine(id);
    return this.find(id);
  }

  /**
   * Serves the entries of the models file as it is now. Running requests finish on the
   * workers they have; those that wait for a model that is gone end as `model_unloaded`.
   * @throws DomainError `models_file_invalid`: nothing changed
   */
  async reload(): Promise<ReturnType<ModelList['reload']>> {
    const changes = this.#read();
    for (const model of changes.removed)
      await this.cancellations.cancelMany({ model, state: 'queued' }, 'unload');
    this.#logger.log(changes, 'models file read');
    return changes;
  }

  #own(id: string): ModelView {
    const { loadedBy } = this.swaps;
    const model = this.find(id);
    if (loadedBy === undefined || !this.pool.of(id)?.isPlaced) return model;
    const message = `The gateway ${loadedBy} loads and unloads ${id}: ask that one.`;
    throw new DomainError('worker_not_supervised', message);
  }

  #read() {
    try {
      return this.list.reload();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new DomainError('models_file_invalid', error.message);
    }
  }

  async #clearLine(id: string): Promise<void> {
    if (this.pool.of(id)?.isHeld)
      await this.cancellations.cancelMany({ model: id, state: 'queued' }, 'unload');
  }
}

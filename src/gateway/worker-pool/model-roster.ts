import { Logger } from '@nestjs/common';
import {
  type ChannelSecurity,
  channelSecurity,
} from '@switchyard/worker-protocol/channel-security.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { AddressWatch, type RemoteEndpoint, type systemResolver } from './address-watch.js';
import { onDevice } from './device-place.js';
import { ElsewhereLocation, type WorkerElsewhere } from './elsewhere-location.js';
import { type PooledWorker } from './pooled-worker.js';
import { type WorkerOwner } from './worker-owner.js';
import { localWorkers, remoteWorker, remoteWorkerId, workerElsewhere } from './worker-roster.js';
import { type WorkerOrder } from './worker-view.js';

/**
 * Which workers a model has: local ones as it is configured, remote ones as its addresses
 * come and go. Those that an operator drained stay so when they are made again.
 */
export class ModelRoster {
  readonly #workers = new Map<string, PooledWorker>();
  readonly #addresses: AddressWatch;
  #security: ChannelSecurity = channelSecurity();
  /** Ids of workers that an operator drained. */
  readonly #drained = new Set<string>();

  constructor(
    private readonly model: ModelSpec,
    private readonly owner: WorkerOwner,
    resolve: typeof systemResolver,
  ) {
    const logger = new Logger('Models');
    this.#addresses = new AddressWatch({
      addresses: model.addresses,
      resolve,
      refreshMs: owner.settings.workers.dnsRefreshMs,
      onEndpoints: endpoints => this.#follow(endpoints),
      onProblem: (host, error) =>
        logger.warn({ model: model.id, host, err: error }, 'cannot resolve'),
    });
    this.populate();
  }

  get all(): readonly PooledWorker[] {
    return [...this.#workers.values()];
  }

  get(id: string): PooledWorker | undefined {
    return this.#workers.get(id);
  }

  /** New ones for those that are known without a name server, not started. */
  populate(device?: string): void {
    for (const worker of this.#elsewhere) void stopped(worker);
    this.#workers.clear();
    for (const worker of localWorkers(onDevice(this.model, device), this.owner)) this.#join(worker);
    for (const endpoint of this.#addresses.fixed) this.#add(endpoint);
  }

  /** @returns false when it is not supervised here and so cannot be restarted */
  order(worker: PooledWorker, order: WorkerOrder): boolean {
    if (!worker.order(order)) return false;
    if (order === 'drain') this.#drained.add(worker.id);
    else this.#drained.delete(worker.id);
    return true;
  }

  /** For the next channels. @throws Error when a file of theirs cannot be read */
  secure(): void {
    this.#security = channelSecurity(this.model.remote);
  }

  /**
   * Starts all workers, and follows the addresses.
   * @param device the workers are made anew for it; undefined: they stay
   */
  start(device: string | undefined): void {
    if (device !== undefined || this.#elsewhere.length > 0) this.populate(device);
    for (const worker of this.#workers.values()) worker.start();
    this.#addresses.start();
  }

  /** While none is started: all that another gateway runs take the places of local ones. */
  follow(announced: readonly WorkerElsewhere[]): void {
    const ids = announced.map(({ workerId }) => workerId);
    const gone = this.#elsewhere.filter(({ id }) => !ids.includes(id));
    for (const worker of gone) {
      this.#workers.delete(worker.id);
      void stopped(worker);
    }
    if (gone.length > 0 && announced.length === 0) this.populate();
    for (const one of announced) {
      const location = this.#workers.get(one.workerId)?.options.location;
      if (location instanceof ElsewhereLocation) location.update(one);
      else this.#join(workerElsewhere(this.model, one, this.owner)).start();
    }
  }

  /** Lets running work end, then stops all. */
  async stop(): Promise<void> {
    this.#addresses.stop();
    await Promise.all(this.all.map(stopped));
  }

  /** Cancels remaining calls and stops all for good. */
  async close(): Promise<void> {
    this.#addresses.stop();
    await Promise.all(this.all.map(worker => worker.close()));
  }

  get #elsewhere(): readonly PooledWorker[] {
    return this.all.filter(({ options }) => options.location.isElsewhere);
  }

  #add(endpoint: RemoteEndpoint): PooledWorker {
    return this.#join(remoteWorker(this.model, endpoint, () => this.#security, this.owner));
  }

  #join(worker: PooledWorker): PooledWorker {
    this.#workers.set(worker.id, worker);
    if (this.#drained.has(worker.id)) worker.order('drain');
    return worker;
  }

  #follow(endpoints: readonly RemoteEndpoint[]): void {
    const wanted = new Map(
      endpoints.map(endpoint => [remoteWorkerId(this.model, endpoint.address), endpoint]),
    );
    for (const [id, endpoint] of wanted) if (!this.#workers.has(id)) this.#add(endpoint).start();
    for (const worker of this.#workers.values())
      if (worker.options.isRemote && !wanted.has(worker.id)) void this.#remove(worker);
  }

  /**
   * Its address record is gone: running work may end. If the record is back by then, so
   * is the worker.
   */
  async #remove(worker: PooledWorker): Promise<void> {
    if (worker.isClosing) return;
    await stopped(worker);
    if (this.#workers.get(worker.id) !== worker) return;
    this.#workers.delete(worker.id);
    this.#addresses.repeat();
  }
}

async function stopped(worker: PooledWorker): Promise<void> {
  await worker.drained();
  await worker.close();
}

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { announcedWorkers, freeJobs } from '@switchyard/shared-queue/client/announced-workers.js';
import {
  ANNOUNCEMENT_TTL_MS,
  DRAINED_TTL_MS,
  HEARTBEAT_MS,
} from '@switchyard/shared-queue/heartbeat.js';
import { type WorkerAnnouncement } from '@switchyard/shared-queue/messages.codec.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { Subject } from 'rxjs';
import { DomainError } from '../../core/errors/domain-error.js';
import { ModelList } from '../../platform/config/config.module.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type ModelView, type WorkerView, type WorkerOrder } from '../worker-pool/worker-view.js';
import { SharedQueueLink } from './shared-queue-link.js';

/** A worker that pulls, as it announces itself. */
type Announced = WorkerAnnouncement<WorkerHealthReport>;

/**
 * All workers: those of the pool, and those that pull from the shared queue, which are known
 * by their announcements: read every heartbeat, and at once when one changed. Frees the jobs
 * of pulling workers that died.
 */
@Injectable()
export class AllWorkers implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger('WorkerDirectory');
  #announced: readonly Announced[] = [];
  readonly #heard = new Subject<void>();
  /** All announcements were read: with each heartbeat, and when one changed. */
  readonly heard$ = this.#heard.asObservable();
  /** As `performance.now`. */
  #backMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: WorkerPoolService,
    private readonly link: SharedQueueLink,
    private readonly list: ModelList,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    this.#timer = setInterval(() => void this.#refresh(), HEARTBEAT_MS).unref();
    const listener = this.link.listener();
    listener.on('message', () => void this.#refresh());
    listener.subscribe(this.link.keys.announced).catch(() => undefined);
    this.link.back$.subscribe(() => {
      this.#backMs = performance.now();
      void this.#refresh();
    });
    this.pool.activity$.subscribe(activity => {
      if (activity.type !== 'exited') return;
      const id = `${activity.worker}.${hostname()}.${activity.pid}`;
      for (const worker of this.#announced) if (worker.id === id) void this.#ended(worker);
    });
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  /** Some worker of the model that requests can be sent to takes work now. */
  hasPushed(model: string): boolean {
    return this.pool.of(model)?.hasReady ?? false;
  }

  /** Some worker of the model that pulls takes work now. */
  hasPulling(model: string): boolean {
    return this.#pulling(model).some(({ health, drained }) => health.state === 'ready' && !drained);
  }

  /** A worker that another gateway started is on one of these devices. */
  areElsewhere(devices: readonly string[]): boolean {
    return this.#announced.some(
      worker => isElsewhere(worker) && worker.placed?.devices.some(id => devices.includes(id)),
    );
  }

  /** Calls that workers of the model on devices have, of all gateways; a heartbeat ago. */
  placedCalls(model: string): number {
    return this.#pulling(model)
      .filter(({ placed }) => placed)
      .reduce((sum, { health }) => sum + health.inFlight, 0);
  }

  models(): ModelView[] {
    return this.pool.models().map(view => this.#withPulling(view));
  }

  model(id: string): ModelView | undefined {
    const view = this.pool.of(id)?.view();
    return view && this.#withPulling(view);
  }

  workers(): WorkerView[] {
    const pooled = this.pool.workers();
    const views = pooled.map(view => ({
      ...view,
      drained: view.drained || this.#announcementOf(view)?.drained,
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
    const announced = order === 'restart' ? undefined : this.#announcementOf(worker);
    const pulling = announced?.lockOwner === undefined ? undefined : announced;
    if (!pulling) this.pool.order(id, order);
    else await this.#drain(pulling.id, order === 'drain');
    const view = this.#find(id);
    return pulling ? { ...view, drained: order === 'drain' } : view;
  }

  #find(id: string): WorkerView {
    const worker = this.workers().find(candidate => candidate.id === id);
    if (!worker) throw new DomainError('worker_not_found', `There is no worker ${id}.`);
    return worker;
  }

  /** As what it announces itself; undefined: it does not pull. */
  #announcementOf(worker: WorkerView): Announced | undefined {
    return this.#pulling().find(announced => isThe(worker, announced));
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
    return this.#pulling(model)
      .filter(announced => !pooled.some(own => isThe(own, announced)))
      .map(workerView);
  }

  /** Of one model, or all. None while Redis is away: no worker could take anything. */
  #pulling(model?: string): readonly Announced[] {
    if (!this.link.enabled || !this.link.usable) return [];
    return model === undefined
      ? this.#announced
      : this.#announced.filter(worker => worker.model === model);
  }

  /** It sees that with its next heartbeat. @throws DomainError `queue_unavailable` */
  async #drain(id: string, drained: boolean): Promise<void> {
    this.link.demand();
    const { redis, keys } = this.link;
    const key = keys.drained(id);
    await this.link.answered<unknown>(
      drained ? redis.set(key, '1', 'PX', DRAINED_TTL_MS) : redis.del(key),
    );
  }

  /** Never rejects: the last announcements stay until Redis answers. */
  async #refresh(): Promise<void> {
    if (!this.link.usable) return;
    try {
      const before = this.#announced;
      this.#announced = this.#withUnheard(await announcedWorkers<WorkerHealthReport>(this.link));
      const owners = new Set(this.#announced.map(({ lockOwner }) => lockOwner));
      for (const worker of before) if (!owners.has(worker.lockOwner)) void this.#missed(worker);
      this.#connectElsewhere();
      this.#heard.next();
    } catch (error) {
      this.#logger.debug({ err: error }, 'reading announcements failed');
    }
  }

  /** What other gateways of this machine have loaded on devices, and requests are sent to. */
  #connectElsewhere(): void {
    const near = this.#announced.filter(one => one.host === hostname() && isElsewhere(one));
    for (const { id, device, kind } of this.list.current) {
      if (!device || (kind !== 'llm' && kind !== 'stt')) continue;
      const own = near.filter(({ model }) => model === id);
      const reached = own.flatMap(({ at, pid, health: { state } }) =>
        at ? [{ workerId: at.worker, address: at.address, token: at.token, pid, state }] : [],
      );
      this.pool.of(id)?.elsewhere(reached);
    }
  }

  /** After a break of Redis all announcements have expired before their workers can be heard. */
  #withUnheard(heard: readonly Announced[]): readonly Announced[] {
    if (performance.now() - this.#backMs > ANNOUNCEMENT_TTL_MS) return heard;
    const ids = new Set(heard.map(({ id }) => id));
    return [...heard, ...this.#announced.filter(({ id }) => !ids.has(id))];
  }

  /** Its process. Never rejects. */
  async #ended(worker: Announced): Promise<void> {
    const { redis, keys } = this.link;
    await this.#free(worker);
    await redis.del(keys.worker(worker.id)).catch(() => undefined);
    redis.publish(keys.announced, worker.id).catch(() => undefined);
  }

  /** A worker may be late with a heartbeat: locks that were not renewed two of them later decide. */
  async #missed(worker: Announced): Promise<void> {
    await sleep(2 * HEARTBEAT_MS, undefined, { ref: false });
    await this.#free(worker, ANNOUNCEMENT_TTL_MS);
  }

  /**
   * Never rejects: what cannot be freed now expires.
   * @param silentMs locks that were renewed later than that ago are those of a
   *   worker that lives
   */
  async #free(worker: Announced, silentMs = 0): Promise<void> {
    const { id } = worker;
    try {
      const jobs = await freeJobs(this.link, worker, silentMs);
      if (jobs !== 0)
        this.#logger.log({ worker: id, jobs }, 'a worker that pulls is gone; its jobs are free');
    } catch (error) {
      this.#logger.debug({ worker: id, err: error }, 'the jobs of a dead worker were not freed');
    }
  }
}

/** Another gateway started it on a device. */
const isElsewhere = ({ host, placed }: Announced): boolean =>
  placed !== undefined && !(host === hostname() && placed.by === process.pid);

/** A local worker announces its id, followed by its host and pid. */
const isThe = ({ id, pid }: WorkerView, announced: Announced): boolean =>
  announced.id === id || (announced.pid === pid && announced.id.startsWith(`${id}.`));

function workerView({
  id,
  model,
  pid,
  health,
  drained,
  slots: { total, inUse },
}: Announced): WorkerView {
  return {
    id,
    model,
    pid,
    drained,
    state: health.state === 'ready' && inUse > 0 ? 'busy' : health.state,
    slots: { total, inUse, free: Math.max(0, total - inUse) },
    streams: 0,
    streamsInUse: 0,
    device: health.device === '' ? undefined : health.device,
    restarts: 0,
    health,
  };
}

import { availableParallelism } from 'node:os';
import { Inject, Injectable, type OnApplicationBootstrap, Optional } from '@nestjs/common';
import { type StreamConfig } from '@switchyard/worker-protocol/call.codec.js';
import { Subject } from 'rxjs';
import { type Lease } from '../../core/dispatch/lease.js';
import {
  type SlotCredit,
  type SlotOffer,
  type WorkerPort,
} from '../../core/dispatch/worker.port.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { DEFAULT_TENANT, type RequestKey } from '../../core/request/request-key.js';
import { type Placement } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { Settings } from '../../platform/config/settings.js';
import { type LogRing } from '../../platform/logging/log-ring.js';
import { type StreamHandle } from '../../worker-client/stream-handle.js';
import { type CallRequest, lostCall, type WorkerCall } from '../../worker-client/worker-call.js';
import { systemResolver } from './address-watch.js';
import { ModelWorkers } from './model-workers.js';
import { type ExecutedCall, type PoolActivity } from './pool-activity.js';
import { type PooledWorker } from './pooled-worker.js';
import { StartTurns } from './start-turns.js';
import { type WorkerLaunch } from './worker-location.js';
import { WORKER_LAUNCH } from './worker-roster.js';
import { isReady, type ModelView, type WorkerView, type WorkerOrder } from './worker-view.js';

/** Retry-After for live streams: a place is released when a session ends. */
const TRY_AGAIN_MS = 1000;

const freeStreams = ({ streams }: PooledWorker): number => streams?.free ?? 0;

/**
 * The worker that takes the next live stream of `model`. @throws DomainError as
 * `WorkerPoolService.streamHost`.
 */
function streamHost(model: string, workers: readonly PooledWorker[]): PooledWorker {
  const [best] = workers.toSorted((a, b) => freeStreams(b) - freeStreams(a));
  if (best && freeStreams(best) > 0) return best;
  const hosts = workers
    .filter(({ options }) => options.replica.role !== 'file')
    .map(worker => worker.view());
  const ready = hosts.filter(isReady);
  if (ready.length === 0)
    throw new DomainError('no_worker', `No worker of ${model} is ready.`, {
      retryAfterMs: TRY_AGAIN_MS,
    });
  const total = ready.reduce((sum, { streams }) => sum + streams, 0);
  if (total === 0)
    throw new DomainError('unsupported_task', `The model \`${model}\` has no live streams.`);
  throw new DomainError(
    'queue_full',
    `All ${total} live streams of \`${model}\` are taken; try again later.`,
    {
      retryAfterMs: TRY_AGAIN_MS,
    },
  );
}

/**
 * All workers of all models: capacity for the dispatcher, calls and cancels for the
 * scheduler, states for operators (D-01, D-05, D-06, D-24; README of this folder).
 *
 * Closing is not a Nest hook: the scheduler drains first and then calls `close()`.
 */
@Injectable()
export class WorkerPoolService implements WorkerPort, OnApplicationBootstrap {
  readonly #models = new Map<string, ModelWorkers>();
  readonly #capacity = new Subject<string>();
  readonly #activity = new Subject<PoolActivity>();
  readonly #executed = new Subject<ExecutedCall>();
  readonly #starts: StartTurns;
  #started = false;
  #closed: Promise<void> | undefined;

  /**
   * The model that has more slots than before, free or urgent. Synchronous: emitted
   * inside `Lease.release()`.
   */
  readonly capacity$ = this.#capacity.asObservable();
  readonly activity$ = this.#activity.asObservable();
  readonly executed$ = this.#executed.asObservable();

  constructor(
    private readonly settings: Settings,
    private readonly list: ModelList,
    @Inject(WORKER_LAUNCH) private readonly launch: WorkerLaunch,
    private readonly clock: ProcessClock,
    @Optional() private readonly resolve: typeof systemResolver = systemResolver,
    @Optional() private readonly keyRing?: KeyRing,
  ) {
    const loads = Math.max(1, Math.floor(availableParallelism() / 2));
    this.#starts = new StartTurns(loads, settings.workers.startTimeoutMs / 2);
    for (const model of list.current) this.#add(model);
    list.changes$.subscribe(({ added, changed, removed }) => {
      for (const id of [...added, ...changed, ...removed]) this.#follow(id);
    });
  }

  onApplicationBootstrap(): Promise<void> {
    return this.start();
  }

  /**
   * Loads the models that do not start on request; does not wait until their workers
   * are ready. Idempotent.
   */
  start(): Promise<void> {
    if (!this.#started) for (const model of this.#models.values()) model.boot();
    this.#started = true;
    return Promise.resolve();
  }

  /**
   * Asked only while something waits for the model, so it starts one that is unloaded
   * (`autostart`, `idle_unload_s`).
   */
  offer(model: string, next?: Placement): SlotOffer | undefined {
    const workers = this.#models.get(model);
    workers?.demand();
    return workers?.offer(next);
  }

  lease(
    workerId: string,
    count: number,
    credit: SlotCredit = 'free',
    mostTogether?: number,
  ): readonly Lease[] {
    const worker = this.#worker(workerId);
    if (!worker) throw new Error(`no worker ${workerId}`);
    return worker.lease(count, credit, mostTogether);
  }

  /**
   * Starts the RPC now. Never throws: if the worker is gone, the reply
   * rejects with `worker_lost`.
   */
  execute({ workerId, ...call }: CallRequest & { readonly workerId: string }): WorkerCall {
    const tenantWeight = this.keyRing?.weightOf(call.request.tenant ?? DEFAULT_TENANT);
    return this.#worker(workerId)?.execute({ ...call, tenantWeight }) ?? lostCall(workerId);
  }

  /**
   * The worker with the most free places for live streams; streams never queue (D-20).
   * @param tenant pays for the load of a model that shares a device
   * @throws DomainError `queue_full` when all are taken, `no_worker` while none is ready,
   *   `model_load_failed` when none
   *   can start, `unsupported_task` when the model has no live streams.
   */
  streamHost(model: string, tenant?: string): string {
    const workers = this.#models.get(model);
    workers?.requestLoad(tenant);
    if (workers?.loadFailure) throw workers.loadFailure;
    return streamHost(model, workers?.roster.all ?? []).id;
  }

  /** Leases a place there. @throws DomainError `worker_lost`; Error without a free place */
  openStream(workerId: string, config: StreamConfig): StreamHandle {
    const worker = this.#worker(workerId);
    if (!worker) throw new DomainError('worker_lost', `There is no worker ${workerId}.`);
    return worker.openStream(config);
  }

  /**
   * Sends Cancel to the worker until the call has ended; after
   * `cancellation.reset_after_ms` the call is reset. Resolves within
   * `cancellation.rpc_timeout_ms`. True: acknowledged, or the worker never received the
   * call. False: no answer yet, or the call has ended. Never rejects; the slot is
   * released when the call has `finished`.
   */
  async cancel(workerId: string, key: RequestKey, reason: CancelReason): Promise<boolean> {
    return (await this.#worker(workerId)?.cancel(key, reason)) ?? false;
  }

  /** @throws DomainError `worker_not_supervised` */
  order(workerId: string, order: WorkerOrder): void {
    const worker = this.#worker(workerId);
    const pulls = worker === undefined || worker.options.pulls;
    if (!pulls && this.#models.get(worker.options.model.id)?.roster.order(worker, order)) return;
    const why = pulls
      ? 'It takes its requests from the shared queue'
      : 'This gateway knows its address only';
    throw new DomainError(
      'worker_not_supervised',
      pulls && order !== 'restart'
        ? `${workerId} has not announced itself on the shared queue yet: try again when it is ready.`
        : `${why}: ${order} ${workerId} where it runs.`,
    );
  }

  /** What a worker wrote last, and what happened to its process. */
  log(workerId: string): LogRing | undefined {
    return this.#worker(workerId)?.options.log.recent;
  }

  workers(): WorkerView[] {
    return this.models().flatMap(({ workers }) => workers);
  }

  models(): ModelView[] {
    return [...this.#models.values()].map(model => model.view());
  }

  /** Undefined: no such model is configured. */
  of(model: string): ModelWorkers | undefined {
    return this.#models.get(model);
  }

  /**
   * Models on devices are not loaded any more, and those that are leave when what they have, of
   * other gateways, too, has ended.
   */
  async handOver(): Promise<void> {
    const placed = [...this.#models.values()].filter(({ isPlaced }) => isPlaced);
    await Promise.all(placed.map(model => model.unload(true)));
  }

  /**
   * Stops offers, cancels remaining calls, stops local workers (SIGTERM, grace, SIGKILL),
   * closes channels last. Idempotent: the same promise.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #add(model: ModelSpec): void {
    const { settings, launch, clock, resolve } = this;
    const workers = new ModelWorkers({
      settings,
      launch,
      clock,
      resolve,
      model,
      capacity: this.#capacity,
      activity: this.#activity,
      executed: this.#executed,
      starts: this.#starts,
    });
    this.#models.set(model.id, workers);
    if (this.#started && !this.#closed) workers.boot();
  }

  /**
   * Brings the workers of a model in line with its entry. Those of another entry end
   * their work first, and are known until then: what they compute can be cancelled, and a
   * device holds one of the two at a time.
   */
  #follow(id: string): void {
    const [workers, wanted] = [this.#models.get(id), this.list.find(id)];
    if (!workers && wanted) return this.#add(wanted);
    if (!workers || (wanted && workers.computes(wanted))) return;
    void workers.retire().then(() => {
      if (this.#models.get(id) !== workers) return;
      this.#models.delete(id);
      this.#follow(id);
      this.#capacity.next(id);
    });
  }

  #worker(id: string): PooledWorker | undefined {
    for (const { roster } of this.#models.values()) {
      const worker = roster.get(id);
      if (worker) return worker;
    }
    return undefined;
  }

  async #close(): Promise<void> {
    this.#started = true;
    await Promise.all([...this.#models.values()].map(model => model.close()));
    this.#capacity.complete();
    this.#activity.complete();
    this.#executed.complete();
  }
}

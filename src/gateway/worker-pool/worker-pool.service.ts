import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import { type SlotCredit, type SlotOffer, type WorkerPort } from '../../core/dispatch/worker.port.js';
import { type StreamConfig } from '../../contracts/grpc/stream.codec.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type Lease } from '../../core/shared/lease.js';
import { ProcessClock } from '../../platform/clock/monotonic-clock.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { type PooledWorker } from './pooled-worker.js';
import { type StreamHandle } from './stream-handle.js';
import { streamHost } from './stream-host.js';
import { type CallRequest, lostCall, type WorkerCall } from './worker-call.js';
import { WORKER_LAUNCH, type WorkerLaunch } from './worker-launch.js';
import { workerRoster } from './worker-roster.js';
import { type CallExecution } from '../../contracts/grpc/call.codec.js';
import { type WorkerView } from './worker-view.js';

/** What metrics want to know and no view tells. */
export type PoolActivity =
  | { readonly type: 'executed'; readonly model: string; readonly execution: CallExecution }
  | { readonly type: 'restarted'; readonly model: string; readonly worker: string };

export interface WorkerCallRequest extends CallRequest {
  readonly workerId: string;
}

/**
 * All workers of all models: capacity for the dispatcher, calls and cancels for the scheduler, states for operators.
 * (DESIGN "Worker pool"; D-01, D-05, D-06, D-24; README of this folder.)
 *
 * Closing is no Nest hook: the scheduler drains first and then calls `close()`, last of all.
 */
@Injectable()
export class WorkerPoolService implements WorkerPort, OnApplicationBootstrap {
  readonly #workers: ReadonlyMap<string, PooledWorker>;
  readonly #byModel: ReadonlyMap<string, readonly PooledWorker[]>;
  readonly #capacity = new Subject<string>();
  readonly #activity = new Subject<PoolActivity>();
  #started = false;
  #closed: Promise<void> | undefined;

  /** The model whose slots became more, free or urgent. Synchronous: emitted inside `Lease.release()`. */
  readonly capacity$: Observable<string> = this.#capacity.asObservable();
  readonly activity$: Observable<PoolActivity> = this.#activity.asObservable();

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(MODELS) models: readonly ModelSpec[],
    @Inject(WORKER_LAUNCH) launch: WorkerLaunch,
    clock: ProcessClock,
  ) {
    const workers = workerRoster({
      settings,
      models,
      launch,
      nowMs: () => clock.nowMs(),
      onCapacity: model => this.#capacity.next(model),
      onRestart: ({ id, model }) => this.#activity.next({ type: 'restarted', worker: id, model }),
    });
    this.#workers = new Map(workers.map(worker => [worker.id, worker]));
    this.#byModel = new Map(models.map(({ id }) => [id, workers.filter(worker => worker.model === id)]));
  }

  onApplicationBootstrap(): Promise<void> {
    return this.start();
  }

  /** Starts supervisors and probes; does not wait for workers to be ready. Idempotent. */
  start(): Promise<void> {
    if (!this.#started) for (const worker of this.#workers.values()) worker.start();
    this.#started = true;
    return Promise.resolve();
  }

  offer(model: string): SlotOffer | undefined {
    let best: SlotOffer | undefined;
    for (const worker of this.#byModel.get(model) ?? []) {
      const offer = worker.offer();
      if (offer && (!best || isRoomier(offer, best))) best = offer;
    }
    return best;
  }

  lease(workerId: string, count: number, credit: SlotCredit = 'free'): readonly Lease[] {
    const worker = this.#workers.get(workerId);
    if (!worker) throw new Error(`no worker ${workerId}`);
    return worker.lease(count, credit);
  }

  /** Starts the RPC now. Never throws: a worker that is gone makes the reply reject with `worker_lost`. */
  execute({ workerId, request, group }: WorkerCallRequest): WorkerCall {
    const call = this.#workers.get(workerId)?.execute({ request, group }) ?? lostCall(workerId);
    call.reply.then(
      ({ execution }) => this.#activity.next({ type: 'executed', model: request.model, execution }),
      () => undefined,
    );
    return call;
  }

  /**
   * Leases a place for a live stream on the worker with the most free ones; streams never queue (D-20).
   * @throws DomainError `queue_full` when all are taken, `no_worker` while none is ready, `unsupported_task` when the
   *   model has no live streams.
   */
  openStream(model: string, config: StreamConfig): StreamHandle {
    return streamHost(model, this.#byModel.get(model) ?? []).openStream(config);
  }

  /**
   * Tells the worker to stop a request; `cancellation.rpc_timeout_ms` at most. True: acknowledged, or the worker never
   * got it. False: no answer, or it has ended already. Never rejects; the slot comes back when the call has `finished`.
   */
  async cancel(workerId: string, requestId: string, reason: CancelReason): Promise<boolean> {
    const worker = this.#workers.get(workerId);
    return (await worker?.cancel(requestId, reason, this.settings.cancellation.rpcTimeoutMs)) ?? false;
  }

  workers(): WorkerView[] {
    return [...this.#workers.values()].map(worker => worker.view());
  }

  /** Some worker is configured for the model, up or not. */
  isServed(model: string): boolean {
    return (this.#byModel.get(model)?.length ?? 0) > 0;
  }

  /** Some worker of the model takes work now. */
  hasReady(model: string): boolean {
    return (this.#byModel.get(model) ?? []).some(({ state }) => state === 'ready' || state === 'busy');
  }

  /**
   * No more offers; calls that are left are cancelled, local workers stopped (SIGTERM, grace, SIGKILL), channels closed
   * last. Idempotent: the same promise.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#started = true;
    await Promise.all([...this.#workers.values()].map(worker => worker.close()));
    this.#capacity.complete();
    this.#activity.complete();
  }
}

/** REALTIME overdraws a worker only when no other has a free slot. */
const isRoomier = (a: SlotOffer, b: SlotOffer): boolean =>
  a.free > b.free || (a.free === b.free && a.urgent > b.urgent);

import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
import { type Subject } from 'rxjs';
import { type SlotOffer, type WorkerOffer } from '../../core/dispatch/worker.port.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Placement } from '../../core/request/scheduled-request.js';
import { differs } from '../../platform/config/config.module.js';
import { type DeviceSpec, type ModelSpec } from '../../platform/config/model-spec.js';
import { type systemResolver } from './address-watch.js';
import { DevicePlace } from './device-place.js';
import { type WorkerElsewhere } from './elsewhere-location.js';
import { ModelRoster } from './model-roster.js';
import { type PooledWorker } from './pooled-worker.js';
import { type SharedSlots, sharedSlots } from './shared-slots.js';
import { favourite, leastLoaded, withoutAvoided } from './worker-choice.js';
import { type WorkerOwner } from './worker-owner.js';
import { isNew, isReady, whyDown, type ModelView, type WorkerView } from './worker-view.js';

/**
 * The workers of one model: none of them started while it is unloaded, all of them while
 * it is loaded. README "Models".
 */
export class ModelWorkers {
  readonly #logger = new Logger('Models');
  /**
   * Workers outlive the request that started them: their log lines must not carry its id.
   */
  readonly #detached = AsyncLocalStorage.snapshot();
  readonly roster: ModelRoster;
  #life: 'unloaded' | 'loaded' | 'unloading' = 'unloaded';
  #unloading: Promise<void> | undefined;
  #isHeld = false;
  /** The replica that computes what tenants under suspicion send. */
  #suspectsAt = '';
  #isBooted = false;
  #closed = false;
  #problem: string | undefined;
  #usedAtMs = 0;
  /** Who waits for it, if it shares a device. */
  readonly place: DevicePlace;

  readonly id: string;

  constructor(
    private readonly options: Omit<WorkerOwner, 'onCapacity' | 'onReturn'> & {
      readonly model: ModelSpec;
      readonly resolve: typeof systemResolver;
      /** Models a worker of which has more slots than before, free or urgent. Synchronous. */
      readonly capacity: Subject<string>;
    },
  ) {
    this.id = options.model.id;
    this.#used();
    const onCapacity = (): void => options.capacity.next(this.id);
    this.place = new DevicePlace(options.clock, {
      onChange: onCapacity,
      onRefused: () => options.activity.next({ type: 'load_failed', model: this.id }),
    });
    const owner = { ...options, onCapacity, onReturn: () => this.#used() };
    this.roster = new ModelRoster(options.model, owner, options.resolve);
  }

  /** An operator unloaded it, and only an operator loads it again. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** It is needed now, or was last; monotonic milliseconds. */
  get usedAtMs(): number {
    return this.#usedAtMs;
  }

  /** At boot: loads it unless it starts on request. Before that no request does. */
  boot(): void {
    this.#isBooted = true;
    if (this.#autostart !== 'on_request') this.load();
  }

  /** Whether its workers share a device: `DeviceSwaps` then loads and unloads it. */
  get isPlaced(): boolean {
    return this.options.model.device !== undefined;
  }

  get #autostart(): NonNullable<ModelSpec['autostart']> {
    return (
      this.options.model.autostart ??
      (this.isPlaced && !this.options.model.pin ? 'on_request' : 'always')
    );
  }

  /** What its workers are doing, as far as its own state says. */
  get life(): 'unloaded' | 'loaded' | 'unloading' {
    return this.#closed && this.#life === 'loaded' ? 'unloading' : this.#life;
  }

  /**
   * Starts its workers, after an unload in progress has ended. Does not wait until they
   * are ready. Idempotent.
   */
  load(): void {
    this.#isHeld = false;
    this.#used();
    if (this.isPlaced) this.place.requestLoad(undefined, Infinity);
    else this.#begin();
  }

  /** What another gateway of this machine has loaded: requests are sent there from here, too. */
  elsewhere(announced: readonly WorkerElsewhere[]): void {
    if (this.#life !== 'unloaded' || this.#closed) return;
    this.#detached(() => this.roster.follow(announced));
  }

  /** As `load`, on a device that has room for it. */
  loadOn({ as }: DeviceSpec): void {
    this.place.device = as;
    this.#begin();
  }

  #begin(): void {
    if (this.#life === 'unloaded' && !this.#closed) this.#detached(() => this.#start());
    else if (this.#life === 'unloading') void this.#unloading?.then(() => this.load());
  }

  /**
   * A request waits for it: starts its workers unless an operator unloaded it. A model on a
   * device is started by `DeviceSwaps`, which knows what waits.
   */
  demand(): void {
    this.#used();
    const mayLoad = this.#isBooted && !this.#isHeld && this.#problem === undefined;
    if (mayLoad && this.#life === 'unloaded' && !this.isPlaced) this.load();
  }

  /** A session waits for it. To be called again while it waits. */
  requestLoad(tenant?: string): void {
    this.demand();
    if (this.isPlaced && !this.#isHeld && !this.hasReady) this.place.requestLoad(tenant);
  }

  /** Why its load failed, in the engine's own words; undefined: no process of it has ended. */
  get loadProblem(): string | undefined {
    const ends = this.roster.all.map(({ options }) => options.location.status);
    const end = ends.find(({ lastExit, startFailure }) => lastExit ?? startFailure);
    const known = this.#problem ?? end?.startFailure ?? end?.problem;
    return known ?? (end && 'its process ended');
  }

  /**
   * Stops offers at once, lets running work end, then stops the workers. Resolves when
   * all have ended.
   * @param hold requests do not load it again
   */
  unload(hold: boolean): Promise<void> {
    this.#isHeld = hold;
    this.#problem = undefined;
    if (this.#life === 'unloaded') return Promise.resolve();
    return (this.#unloading ??= this.#detached(() => this.#stop()).finally(
      () => (this.#unloading = undefined),
    ));
  }

  /** Whether its workers compute that model, even if it was renamed. */
  computes(model: ModelSpec): boolean {
    return !this.#closed && !differs(this.options.model, model);
  }

  /**
   * Its entry is gone or another one: lets running work end, then stops for good.
   * Idempotent in effect.
   */
  retire(): Promise<void> {
    this.#closed = true;
    return this.#detached(async () => {
      await this.#unloading;
      await this.roster.stop();
    });
  }

  offer({ affinity, avoid = [], mostTogether, yields }: Placement = {}): SlotOffer | undefined {
    const replica = yields ? this.#replicaOfSuspects() : undefined;
    if (replica) return replica.offer(mostTogether);
    const all: WorkerOffer[] = [];
    for (const worker of this.roster.all) {
      const offer = worker.offer(mostTogether);
      if (offer) all.push(offer);
    }
    const offers = avoid.length === 0 ? all : withoutAvoided(all, this.#fileWorkers, avoid);
    if (offers.length < 2) return offers[0];
    const trial = offers.find(({ isTrial }) => isTrial);
    if (trial) return trial;
    return affinity === undefined ? leastLoaded(offers) : favourite(offers, affinity);
  }

  /** The one replica that computes what suspect tenants send, so that it cannot end the others. */
  #replicaOfSuspects(): PooledWorker | undefined {
    const workers = this.#fileWorkers.filter(({ state }) => state !== 'draining');
    if (workers.length < 2) return undefined;
    const known = workers.find(({ id }) => id === this.#suspectsAt) ?? workers.find(isReady);
    this.#suspectsAt = known?.id ?? '';
    return known;
  }

  /**
   * Why none of its workers can be started; undefined while one is up or may still start. They
   * are tried again and again, so it becomes undefined when the cause is repaired.
   */
  get loadFailure(): DomainError | undefined {
    let reason = this.#problem ?? this.place.refusal;
    if (this.#life === 'loaded')
      for (const { options } of this.roster.all) {
        const { startFailure } = options.location.status;
        if (startFailure === undefined) return undefined;
        reason ??= startFailure;
      }
    if (reason === undefined) return undefined;
    const message = `The model ${this.id} cannot be loaded: ${reason}`;
    return new DomainError('model_load_failed', message);
  }

  /**
   * Slots for text of workers that other gateways send to, too. Undefined if some workers
   * belong to this gateway alone.
   */
  get sharedSlots(): readonly SharedSlots[] | undefined {
    return this.options.model.kind === 'llm' ? sharedSlots(this.roster.all) : undefined;
  }

  /** Whether a worker takes requests now that are not live streams. */
  get hasReady(): boolean {
    return this.#fileWorkers.some(isReady);
  }

  view(): ModelView {
    const { running } = this;
    const { idleUnloadS } = this.options.model;
    const workers = this.roster.all.map(worker => worker.view());
    return {
      id: this.id,
      ...this.#state(workers),
      autostart: this.#autostart,
      startsOnRequest: !this.#isHeld,
      idleUnloadS,
      running,
      idleMs: running > 0 ? 0 : this.options.clock.nowMs() - this.#usedAtMs,
      workers,
    };
  }

  /** Requests and live streams that its workers have now. */
  get running(): number {
    return this.roster.all.reduce((sum, { running }) => sum + running, 0);
  }

  /** A worker that pulls reported how it computed one request. */
  reported(execution: CallExecution): void {
    this.#used();
    this.options.executed.next({ model: this.id, execution });
  }

  /** Cancels remaining calls and stops for good. Idempotent in effect. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.roster.close();
  }

  /** Notes that it is needed now, for its idle time. */
  #used(): void {
    this.#usedAtMs = this.options.clock.nowMs();
  }

  get #fileWorkers(): readonly PooledWorker[] {
    return this.roster.all.filter(({ options }) => options.replica.role !== 'stream');
  }

  #state(workers: readonly WorkerView[]): Pick<ModelView, 'state' | 'reason'> {
    const problem = this.#problem ?? this.place.refusal;
    if (problem !== undefined) return { state: 'failed', reason: problem };
    if (workers.some(isReady)) return { state: 'loaded' };
    if (this.#life !== 'loaded') return { state: this.#life };
    const wanted = workers.filter(({ drained }) => !drained);
    if (workers.length > 0 && wanted.length === 0)
      return { state: 'failed', reason: 'all of its workers are drained' };
    // Without any worker yet, a name server has not answered.
    if (workers.length === 0 || wanted.some(isNew)) return { state: 'loading' };
    return { state: 'failed', reason: wanted.flatMap(whyDown)[0] ?? 'no worker is up' };
  }

  #start(): void {
    try {
      this.roster.secure();
    } catch (error) {
      this.#problem = (error as Error).message;
      this.#logger.error({ model: this.id, err: error }, 'model cannot be loaded');
      return this.options.activity.next({ type: 'load_failed', model: this.id });
    }
    this.#problem = undefined;
    this.#life = 'loaded';
    this.#logger.log({ model: this.id }, 'loading model');
    this.roster.start(this.place.device);
  }

  async #stop(): Promise<void> {
    this.#life = 'unloading';
    this.#logger.log({ model: this.id }, 'unloading model');
    const stopped = this.roster.stop();
    // Whoever waits, here or at other gateways, is to know that no slot of it is free any more.
    if (this.isPlaced) this.options.capacity.next(this.id);
    await stopped;
    if (this.#closed) return;
    this.#life = 'unloaded';
    this.roster.populate(this.place.device);
    // A request that waits may load it again.
    this.options.capacity.next(this.id);
  }
}

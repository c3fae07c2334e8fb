import { randomUUID } from 'node:crypto';
import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type PlaceCounts } from '@switchyard/shared-queue/client/shared-places.js';
import { QueueJobClass } from '@switchyard/shared-queue/keys.js';
import { Subject } from 'rxjs';
import { type DispatchPlan } from '../../core/dispatch/dispatch-plan.js';
import { Lease } from '../../core/dispatch/lease.js';
import { type SlotCredit, type WorkerPort } from '../../core/dispatch/worker.port.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { isAged } from '../../core/request/request-age.js';
import { DEFAULT_TENANT, type RequestKey } from '../../core/request/request-key.js';
import {
  type PriorityLabel,
  priorityLabel,
  priorityLevel,
  RequestPriority,
} from '../../core/request/request-priority.js';
import { type Placement, type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { GatewayPlaces } from './gateway-places.js';
import { type GrantedRequest, type ModelPlaces } from './model-places.js';
import { QueueEvents } from './queue-events.js';
import { RequestJobs } from './request-jobs.js';

/** What a tenant was charged for a request that was granted a slot. */
interface Charge {
  readonly owner: string;
  readonly level: QueueJobClass;
  readonly costMs: number;
  /** Begin of its slot; undefined: its worker measures the device time for all gateways. */
  readonly sinceMs: number | undefined;
}

/**
 * The workers as the dispatcher of this process sees them. Text for workers that other
 * gateways send to as well waits in the order of all of them (D-58): its body stays here, its
 * place is in Redis, and it is sent when it is granted a slot. For all else, and with an
 * embedded queue, it is the pool as it is.
 */
@Injectable()
export class TextPlaces implements WorkerPort, OnApplicationBootstrap {
  @Inject() private readonly all!: GatewayPlaces;
  readonly #models = new Map<string, ModelPlaces>();
  /**
   * Until they have ended. At a server of several gateways a tenant pays for the time of its
   * slots: each gateway has a process there, which measures shares of its own requests alone.
   */
  readonly #charges = new Map<RequestKey, Charge>();
  readonly #due = new Subject<void>();
  readonly #stops = new Subject<{ readonly key: RequestKey; readonly reason: CancelReason }>();
  readonly #reprioritized = new Subject<{
    readonly key: RequestKey;
    readonly priority: RequestPriority;
  }>();

  /** Something may be sent that could not before. */
  readonly due$ = this.#due.asObservable();

  /** Requests of this gateway that another one was asked to stop. */
  readonly stops$ = this.#stops.asObservable();
  /** Requests of this gateway that another one was asked to give another priority. */
  readonly reprioritized$ = this.#reprioritized.asObservable();

  constructor(
    private readonly jobs: RequestJobs,
    private readonly heard: QueueEvents,
    readonly pool: WorkerPoolService,
    private readonly queue: PriorityQueue,
    private readonly clock: ProcessClock,
    private readonly events: DispatchEventBus,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.jobs.link.enabled) return;
    this.#follow();
    this.jobs.stops$.subscribe(({ jobId, reason }) => {
      const key = this.#keyOf(jobId);
      if (key !== undefined && reason !== 'queue_timeout') this.#stops.next({ key, reason });
    });
    this.heard.events$.subscribe(({ event, jobId, priority }) => {
      const key = event === 'reprioritized' ? this.#keyOf(jobId) : undefined;
      if (key !== undefined)
        this.#reprioritized.next({ key, priority: priorityLevel(priority as PriorityLabel) });
    });
    this.pool.capacity$.subscribe(model => this.#of(model)?.changed());
  }

  /**
   * Redis has the order of the model, what waits and runs is counted there: what other gateways
   * have of it. Undefined: this process decides.
   */
  elsewhere(model: string): PlaceCounts | undefined {
    return this.#models.get(model)?.elsewhere;
  }

  /** Of what waits and runs at all gateways that which is not this one's. */
  others(model: string, all: PlaceCounts): PlaceCounts {
    return this.#models.get(model)?.without(all) ?? all;
  }

  offer(model: string, next?: Placement) {
    const offer = this.pool.offer(model, next);
    const places = this.#of(model);
    return places && this.pool.of(model)?.sharedSlots ? places.limited(offer) : offer;
  }

  lease(
    workerId: string,
    count: number,
    credit: SlotCredit,
    mostTogether?: number,
  ): readonly Lease[] {
    const leases = this.pool.lease(workerId, count, credit, mostTogether);
    const places = [...this.#models.values()].find(one => one.sendsTo(workerId));
    return places?.extra(workerId, leases) ?? leases;
  }

  /** Requests that were granted slots: gone from the queue, their slots leased. */
  *plans(): Generator<DispatchPlan> {
    for (const [model, places] of this.#models)
      for (const granted of places.granted()) {
        const plan = this.#plan(model, places, granted);
        if (plan) yield plan;
      }
  }

  #plan(
    model: string,
    places: ModelPlaces,
    { key, workerId, free }: GrantedRequest,
  ): DispatchPlan | undefined {
    const request = this.queue.get(key);
    if (!request) return void free();
    let inner: Lease | undefined;
    try {
      [inner] = this.pool.lease(workerId, 1, 'urgent', request.mostTogether);
    } catch {
      // It went away meanwhile.
      free();
      return void places.refused(request);
    }
    this.queue.takeChosen(key);
    this.#charges.set(key, this.#chargeOf(request, workerId));
    const lease = new Lease(() => {
      inner?.release();
      free();
    });
    const { agingMs, agingShare } = this.queue.options;
    const aged = isAged(request, this.clock.nowMs(), agingMs);
    return {
      groupId: randomUUID(),
      model,
      workerId,
      reason: 'single',
      agingShare: aged ? agingShare : undefined,
      members: [{ request, lease, batchWaitMs: 0, aged }],
    };
  }

  #follow(): void {
    const entered = ({ key, type }: { readonly key: RequestKey; readonly type: string }): void => {
      const request = this.queue.get(key);
      if (request) void this.#of(request.model)?.enter(request, type === 'requeued');
    };
    for (const type of ['accepted', 'requeued', 'reprioritized'] as const)
      this.events.on(type, entered);
    this.events.on('leased', ({ model, key }) => this.#models.get(model)?.left(key));
    this.events.on('settled', ({ model, key, deviceMs }) => {
      this.#models.get(model)?.left(key);
      const charge = this.#charges.get(key);
      this.#charges.delete(key);
      if (!charge) return;
      const { owner, level, costMs, sinceMs } = charge;
      const tookMs = sinceMs === undefined ? deviceMs : this.clock.nowMs() - sinceMs;
      if (tookMs !== undefined) this.all.settle(model, owner, level, tookMs - costMs);
    });
  }

  #keyOf(placeId: string): RequestKey | undefined {
    for (const places of this.#models.values()) {
      const key = places.keyOf(placeId);
      if (key !== undefined) return key;
    }
    return undefined;
  }

  /** Undefined: the dispatcher of this process decides alone. */
  #of(model: string): ModelPlaces | undefined {
    if (!this.jobs.link.enabled) return undefined;
    const known = this.#models.get(model);
    if (known || !this.pool.of(model)?.sharedSlots) return known;
    const places = this.all.add<ScheduledRequest>(model, {
      slots: () => this.pool.of(model)?.sharedSlots ?? [],
      waiting: () => [...this.queue.inOrder(model, this.clock.nowMs())],
      placeOf: (request, nonce) => this.#placeOf(request, nonce),
      onDue: () => this.#due.next(),
    });
    this.#models.set(model, places);
    return places;
  }

  #placeOf(request: ScheduledRequest, nonce: string) {
    const { id, model, tenant, priority, costMs, mostTogether } = request;
    const sinceMs = this.jobs.link.clock.nowMs() - (this.clock.nowMs() - request.enqueuedAtMs);
    const acceptedMs = Math.round(sinceMs);
    const shown = { v: 1, kind: 'generation', id, model, tenant, acceptedMs };
    return {
      id: `${this.jobs.link.keys.job(id, tenant)}.${nonce}`,
      class: levelOf(priority),
      sinceMs,
      costMs,
      mostTogether,
      shown: { ...shown, priority: priorityLabel(priority) },
      weight: this.queue.options.weightOf?.(tenant ?? DEFAULT_TENANT) ?? 1,
      isReturned: false,
    };
  }

  #chargeOf({ tenant, priority, costMs, model }: ScheduledRequest, workerId: string): Charge {
    const slots = this.pool.of(model)?.sharedSlots?.find(one => one.workerId === workerId);
    const sinceMs = slots?.measuresAll ? undefined : this.clock.nowMs();
    const owner = this.jobs.link.keys.owner(tenant);
    return { owner, level: levelOf(priority), costMs, sinceMs };
  }
}

const levelOf = (priority: RequestPriority): QueueJobClass =>
  priority === RequestPriority.REALTIME ? QueueJobClass.REALTIME : QueueJobClass.BATCH;

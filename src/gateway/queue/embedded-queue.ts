import { Inject, Injectable } from '@nestjs/common';
import { merge, type Observable, Subject } from 'rxjs';
import { WindowTimers } from '../../core/batching/window-timers.js';
import { loadText } from '../../core/devices/load-text.js';
import { type DispatchPlan } from '../../core/dispatch/dispatch-plan.js';
import { Dispatcher } from '../../core/dispatch/dispatcher.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { slotCredit } from '../../core/dispatch/slot-credit.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import {
  listingOf,
  placeBeside,
  placeIn,
  type QueuedView,
  waitingUpTo,
} from '../../core/queue/queue-places.js';
import { type RequestKey, requestKey, type RequestRef } from '../../core/request/request-key.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { MODELS } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type TaskRequest } from '../../worker-client/worker-task.js';
import { DeviceSwaps } from '../devices/device-swaps.js';
import { type QueueDepth, type SchedulerQueue } from '../registry/request-queue.port.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { TextPlaces } from '../shared-queue/text-places.js';

/**
 * The queue in this process: the dispatch loop sends its requests to workers of the pool.
 * Accepts every request. Its clock runs only while something waits: `plans` sets the timer
 * for the next time at which a window closes, a request ages or its queue deadline passes.
 */
@Injectable()
export class EmbeddedQueue implements SchedulerQueue {
  readonly isEmbedded = true;
  @Inject() private readonly swaps!: DeviceSwaps;
  readonly #aged = new Subject<RequestKey>();
  readonly #expired = new Subject<RequestKey>();
  /** Each BATCH request when it has aged (D-03). */
  readonly aged$ = this.#aged.asObservable();
  /** Each request that left because its queue deadline passed (D-07), or its latest start (D-26). */
  readonly expired$ = this.#expired.asObservable();

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly registry: RequestRegistry,
    private readonly clock: ProcessClock,
    private readonly timers: WindowTimers,
    @Inject(MODELS) readonly models: readonly ModelSpec[],
    /** The workers, as this process may send to them. */
    private readonly places: TextPlaces,
  ) {
    places.reprioritized$.subscribe(({ key, priority }) => {
      const tracked = registry.get(key);
      if (tracked) this.#reprioritize(tracked, priority);
    });
  }

  /** It may be time for another turn of the dispatch loop. */
  get due$(): Observable<void> {
    return merge(this.timers.wakes$, this.places.due$);
  }

  get isEmpty(): boolean {
    return this.dispatcher.queue.depth === 0;
  }

  /**
   * One turn: tells what has aged and expired, yields the groups that may be sent now, each
   * with its slots leased and gone from the queue, and sets the timer for the next turn.
   */
  *plans(): Generator<DispatchPlan> {
    for (const { key } of this.dispatcher.queue.aged(this.clock.nowMs())) this.#aged.next(key);
    for (const { key } of this.dispatcher.queue.expired(this.clock.nowMs()))
      this.#expired.next(key);
    yield* this.places.plans();
    while (!this.isEmpty) {
      const plan = this.dispatcher.next(this.clock.nowMs());
      if (plan === undefined) break;
      yield plan;
    }
    this.timers.wakeAt(this.dispatcher.nextWakeMs(this.clock.nowMs()));
  }

  /** From now on windows close at once: the queue is sent while time remains. */
  closeWindows(): void {
    this.dispatcher.draining();
  }

  /** No further turn is asked for by time. */
  stopTimer(): void {
    this.timers.stop();
  }

  isIdle(model: string): boolean {
    const elsewhere = this.places.elsewhere(model);
    if (!elsewhere) return this.dispatcher.isIdle(model);
    const own = this.dispatcher.queue.depthOf(model);
    const others = elsewhere.running + waitingUpTo(RequestPriority.BATCH, elsewhere);
    const isEmpty = others + waitingUpTo(RequestPriority.BATCH, own) === 0;
    return isEmpty && this.places.pool.offer(model)?.idle === true;
  }

  startMs(request: ScheduledRequest): number {
    return this.dispatcher.startInMs(request, request.enqueuedAtMs) ?? 0;
  }

  enqueue(request: TaskRequest): DomainError | 'accepted' {
    return this.dispatcher.submit(request, this.clock.nowMs()) ?? 'accepted';
  }

  async cancel(
    { key }: ScheduledRequest,
    reason: CancelReason,
    workerId: string | undefined,
  ): Promise<void> {
    if (workerId === undefined) this.dispatcher.queue.remove(key);
    else await this.places.pool.cancel(workerId, key, reason);
  }

  /** False: it does not wait here. */
  reprioritize(ref: RequestRef, priority: RequestPriority): boolean {
    const tracked = this.registry.get(requestKey(ref));
    return tracked?.queue === this && this.#reprioritize(tracked, priority);
  }

  #reprioritize(tracked: TrackedRequest, priority: RequestPriority): boolean {
    if (!this.dispatcher.queue.reprioritize(tracked.key, priority)) return false;
    this.registry.reprioritized(tracked, priority);
    return true;
  }

  backlog(request: ScheduledRequest) {
    const { model, priority } = request;
    return {
      hasReady: this.#hasReady(model),
      waiting: waitingUpTo(priority, this.dispatcher.queue.depthOf(model)),
      startInMs: this.dispatcher.startInMs(request, this.clock.nowMs()),
    };
  }

  /** Waiting requests, in the order in which they will be sent. */
  list(): RequestView[] {
    return listingOf(this.dispatcher.queue, this.clock.nowMs()).flatMap(
      place => this.#view(place) ?? [],
    );
  }

  find(ref: RequestRef): RequestView | undefined {
    const place = placeIn(this.dispatcher.queue, requestKey(ref), this.clock.nowMs());
    return place && this.#view(place);
  }

  /** One entry per configured model; nothing of those whose order gateways share. */
  depths(): QueueDepth[] {
    const live = this.registry.live().filter(({ queue }) => queue === this);
    return this.models.map(({ id: model }) => {
      if (this.places.elsewhere(model)) return { model, realtime: 0, batch: 0, running: 0 };
      const { realtime, batch } = this.dispatcher.queue.depthOf(model);
      const lanes = this.dispatcher.queue.lanes.filter(lane => lane.model === model);
      const sinceMs = Math.min(...lanes.map(lane => lane.firstEnqueuedAtMs));
      const oldestWaitMs = lanes.length === 0 ? undefined : this.clock.nowMs() - sinceMs;
      const running = live.filter(one => one.model === model && one.state === 'leased').length;
      return { model, realtime, batch, running, oldestWaitMs };
    });
  }

  #view({ request, position, aged }: QueuedView): RequestView | undefined {
    const tracked = this.registry.get(request.key);
    if (!tracked) return undefined;
    const isBatchWindow = request.priority === RequestPriority.BATCH && !aged;
    const waitsFor = this.#waitsFor(request, isBatchWindow);
    return {
      ...this.registry.view(tracked),
      position: this.#placeOf(request, position),
      aged,
      waitsFor,
      load:
        waitsFor === 'device' ? this.swaps.expected(request.model, request.priority) : undefined,
    };
  }

  /** Among those of all gateways. */
  #placeOf({ model, priority }: ScheduledRequest, position: number): number {
    const elsewhere = this.places.elsewhere(model);
    return elsewhere
      ? placeBeside(position, priority, this.dispatcher.queue.depthOf(model), elsewhere)
      : position;
  }

  /**
   * What its requests wait for while it is not on the device that it shares, and for how many
   * milliseconds, if that is known; undefined: it is there.
   */
  awaited(
    model: string,
    priority: RequestPriority,
  ): { readonly text: string; readonly inMs?: number | undefined } | undefined {
    if (this.swaps.isAway(model)) {
      const load = this.swaps.expected(model, priority);
      return { text: loadText(model, load), inMs: load?.inMs };
    }
    const [workers, owner] = [this.places.pool.of(model), this.swaps.loadedBy];
    const isElsewhere = workers?.isPlaced && owner !== undefined;
    if (!isElsewhere || workers.view().state === 'loaded') return undefined;
    return { text: `${model} is not loaded; the gateway ${owner} loads it` };
  }

  #hasReady(model: string): boolean {
    return this.places.pool.of(model)?.hasReady ?? false;
  }

  #waitsFor(request: ScheduledRequest, windowApplies: boolean): RequestView['waitsFor'] {
    const { model } = request;
    if (!this.#hasReady(model)) return this.swaps.isAway(model) ? 'device' : 'worker';
    const credit = slotCredit(request, this.dispatcher.queue, this.clock.nowMs());
    if (!this.places.pool.offer(model, request)?.[credit]) return 'slot';
    return windowApplies ? 'window' : 'turn';
  }
}

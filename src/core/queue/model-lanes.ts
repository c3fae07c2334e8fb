import { AgingTurns } from '../shared/aging-turns.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { isAged } from '../request/aging-policy.js';
import { ModelLane } from './model-lane.js';

export interface AgingOptions {
  /** Milliseconds after which a BATCH request is aged (`queue.aging_ms`, 30000). */
  readonly agingMs: number;
  /** Share of the turns that aged requests get while REALTIME waits as well (`queue.aging_share`, 0.25). */
  readonly agingShare: number;
}

/** A request and whether it is aged. */
export interface PlacedRequest<P> {
  readonly request: ScheduledRequest<P>;
  readonly aged: boolean;
}

/** Both lanes of one model, and which of them has the next turn (D-03). */
export class ModelLanes<P> {
  readonly realtime: ModelLane<P>;
  readonly batch: ModelLane<P>;
  readonly #agingMs: number;
  readonly #turns: AgingTurns;

  constructor(model: string, { agingMs, agingShare }: AgingOptions) {
    this.realtime = new ModelLane<P>(model, RequestPriority.REALTIME);
    this.batch = new ModelLane<P>(model, RequestPriority.BATCH);
    this.#agingMs = agingMs;
    this.#turns = new AgingTurns(agingShare);
  }

  of(priority: RequestPriority): ModelLane<P> {
    return priority === RequestPriority.REALTIME ? this.realtime : this.batch;
  }

  /** True while a REALTIME and an aged request wait: turns decide between them. */
  isContested(nowMs: number): boolean {
    return this.realtime.size > 0 && this.batch.size > 0 && this.#isAged(this.batch.firstEnqueuedAtMs, nowMs);
  }

  /** For a contested model: true when the aged request has the next turn. */
  get isAgedNext(): boolean {
    return this.#turns.isAgedNext(this.realtime.firstEnqueuedAtMs, this.batch.firstEnqueuedAtMs);
  }

  /** A request of this lane was leased. @param contested as `isContested` was before */
  taken(lane: Pick<ModelLane<P>, 'priority'>, contested: boolean): void {
    this.#turns.taken(lane.priority === RequestPriority.BATCH, contested);
  }

  /** All waiting requests in dispatch order, assuming that no request arrives or ages. */
  *inOrder(nowMs: number): Generator<PlacedRequest<P>> {
    const turns = this.#turns.copy();
    let [urgent, other] = [this.realtime.head, this.batch.head];
    while (urgent ?? other) {
      const aged = other !== undefined && this.#isAged(other.request.enqueuedAtMs, nowMs);
      const contested = urgent !== undefined && aged;
      const isOthers = contested
        ? turns.isAgedNext(urgent!.request.enqueuedAtMs, other!.request.enqueuedAtMs)
        : urgent === undefined;
      turns.taken(isOthers, contested);
      yield isOthers ? { request: other!.request, aged } : { request: urgent!.request, aged: false };
      if (isOthers) other = other!.behind;
      else urgent = urgent!.behind;
    }
  }

  #isAged(enqueuedAtMs: number, nowMs: number): boolean {
    return isAged({ priority: RequestPriority.BATCH, enqueuedAtMs }, nowMs, this.#agingMs);
  }
}

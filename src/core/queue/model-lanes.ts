import { AgingTurns } from '../shared/aging-turns.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { isAged } from '../request/aging-policy.js';
import { ModelLane } from './model-lane.js';
import { type WaitingRequest } from './tenant-queue.js';
import { type WeightOf } from './tenant-shares.js';

export interface AgingOptions {
  /** Milliseconds after which a BATCH request is aged (`queue.aging_ms`, 30000). */
  readonly agingMs: number;
  /** Share of the turns that aged requests get while REALTIME waits as well (`queue.aging_share`, 0.25). */
  readonly agingShare: number;
}

export interface QueueOptions extends AgingOptions {
  /** Asked when a request is sent, so that a change takes effect at once. Absent: all tenants are equal. */
  readonly weightOf?: WeightOf;
  /** Of the aged turns, where the order goes on from elsewhere. */
  readonly agingCredit?: number;
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
  #turns: AgingTurns;

  constructor(model: string, { agingMs, agingShare, agingCredit, weightOf = () => 1 }: QueueOptions) {
    this.realtime = new ModelLane<P>(model, RequestPriority.REALTIME, { weightOf, agingMs });
    this.batch = new ModelLane<P>(model, RequestPriority.BATCH, { weightOf, agingMs, rival: this.realtime });
    this.#agingMs = agingMs;
    this.#turns = new AgingTurns(agingShare, agingCredit);
  }

  of(priority: RequestPriority): ModelLane<P> {
    return priority === RequestPriority.REALTIME ? this.realtime : this.batch;
  }

  /** True while a REALTIME and an aged request wait: turns decide between them. */
  isContested(nowMs: number): boolean {
    return this.realtime.size > 0 && this.batch.size > 0 && this.batch.hasAged(nowMs, this.#agingMs);
  }

  /** For a contested model: true when the aged request has the next turn. */
  get isAgedNext(): boolean {
    return this.#turns.isAgedNext(sinceMs(this.realtime.next), sinceMs(this.batch.next));
  }

  /** A request of this lane was leased. @param contested as `isContested` was before */
  taken(lane: Pick<ModelLane<P>, 'priority'>, contested: boolean): void {
    this.#turns.taken(lane.priority === RequestPriority.BATCH, contested);
  }

  /** Takes over accounts and turns, to go on from where `other` is. Its requests are added before. */
  resume(other: ModelLanes<unknown>): void {
    this.realtime.resume(other.realtime);
    this.batch.resume(other.batch);
    this.#turns = other.#turns.copy();
  }

  /** All waiting requests in dispatch order, assuming that no request arrives or ages. */
  *inOrder(nowMs: number): Generator<PlacedRequest<P>> {
    const turns = this.#turns.copy();
    const realtime = this.realtime.preview(nowMs, this.#agingMs);
    const batch = this.batch.preview(nowMs, this.#agingMs);
    for (;;) {
      const urgent = realtime.next(false);
      const contested = urgent !== undefined && batch.hasAged;
      const other = batch.next(contested);
      const isOthers = contested ? turns.isAgedNext(sinceMs(urgent), sinceMs(other)) : urgent === undefined;
      const node = isOthers ? other : urgent;
      if (node === undefined) return;
      turns.taken(isOthers, contested);
      (isOthers ? batch : realtime).take(node);
      yield { request: node.request, aged: isAged(node.request, nowMs, this.#agingMs) };
    }
  }
}

const sinceMs = (node: WaitingRequest<unknown> | undefined): number => node?.request.enqueuedAtMs ?? Infinity;

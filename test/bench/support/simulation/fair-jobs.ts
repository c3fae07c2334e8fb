import { FairShare } from '../../../../src/core/jobs/fair-share.js';
import { type VirtualGateway } from './virtual-gateway.js';

/** The lines of one job for one model. */
export interface JobLane {
  readonly tenant: string;
  readonly job: string;
  readonly model: string;
  readonly lines: number;
}

export interface JobLimits {
  /** Lines in flight, all jobs together (`batch.concurrency`). */
  readonly all: number;
  /** Lines in flight for one model (`batch.concurrency_per_model`). */
  readonly perModel: number;
}

/**
 * `fair`: the processor's deficit round robin (D-18); `in order`: one job after the
 * other, as they came.
 */
export type JobOrder = 'fair' | 'in order';

/**
 * A batch processor in virtual time: as many lines in flight as its limits say, the next
 * one chosen by the core's `FairShare`, each a BATCH request in the gateway's queue.
 */
export class FairJobs {
  readonly #share = new FairShare();
  readonly #left = new Map<string, number>();
  readonly #inFlight = new Map<string, number>();
  #total = 0;

  constructor(
    private readonly gateway: VirtualGateway,
    private readonly lanes: readonly JobLane[],
    private readonly limits: JobLimits,
    private readonly order: JobOrder = 'fair',
  ) {
    for (const lane of lanes) {
      this.#left.set(keyOf(lane), lane.lines);
      this.#share.put({ key: keyOf(lane), tenant: lane.tenant, weight: 1 });
    }
  }

  /** Lines of a tenant that have not been sent. */
  leftOf(tenant: string): number {
    return this.lanes.reduce(
      (sum, lane) => sum + (lane.tenant === tenant ? this.#leftOf(lane) : 0),
      0,
    );
  }

  pump(): void {
    while (this.#total < this.limits.all) {
      const lane = this.#next();
      if (!lane) return;
      this.#send(lane);
    }
  }

  #next(): JobLane | undefined {
    if (this.order === 'in order') return this.lanes.find(lane => this.#canGo(lane));
    const byKey = (key: string): JobLane => this.lanes.find(lane => keyOf(lane) === key)!;
    const key = this.#share.next(candidate => this.#canGo(byKey(candidate)));
    return key === undefined ? undefined : byKey(key);
  }

  #canGo(lane: JobLane): boolean {
    return this.#leftOf(lane) > 0 && (this.#inFlight.get(lane.model) ?? 0) < this.limits.perModel;
  }

  #send(lane: JobLane): void {
    const { model, tenant } = lane;
    this.#left.set(keyOf(lane), this.#leftOf(lane) - 1);
    this.#count(model, 1);
    this.gateway.submit({ atMs: this.gateway.nowMs, model, tenant, priority: 'batch' }, () => {
      this.#count(model, -1);
      this.pump();
    });
  }

  #count(model: string, change: number): void {
    this.#inFlight.set(model, (this.#inFlight.get(model) ?? 0) + change);
    this.#total += change;
  }

  #leftOf(lane: JobLane): number {
    return this.#left.get(keyOf(lane)) ?? 0;
  }
}

const keyOf = ({ job, model }: JobLane): string => `${job}/${model}`;

/** Jain's index: 1 when all get the same, 1/n when one gets everything. */
export function fairness(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share * share, 0);
  return squares === 0 ? 1 : (sum * sum) / (shares.length * squares);
}

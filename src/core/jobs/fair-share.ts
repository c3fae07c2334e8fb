/** One (tenant, job, model) lane of lines to send. */
export interface ShareLane {
  readonly key: string;
  readonly tenant: string;
  /** Lines per turn, >= 1. */
  readonly weight: number;
}

interface Turn<T> {
  readonly entry: T;
  deficit: number;
}

/**
 * Chooses the next lane (D-18): deficit round robin over tenants, and over the lanes of a tenant, so that a tenant with
 * many jobs, or a job with many models, gets no larger share. A blocked lane loses its turn.
 */
export class FairShare {
  readonly #tenants = new Ring<Tenant>();

  get size(): number {
    return this.#tenants.entries.reduce((sum, { lanes }) => sum + lanes.entries.length, 0);
  }

  /** Adds a lane or changes its weight. */
  put(lane: ShareLane): void {
    let tenant = this.#tenants.entries.find(({ name }) => name === lane.tenant);
    if (!tenant) this.#tenants.add((tenant = { name: lane.tenant, lanes: new Ring<ShareLane>() }));
    tenant.lanes.replace(lane, ({ key }) => key === lane.key);
  }

  remove(key: string): void {
    for (const tenant of this.#tenants.entries) {
      tenant.lanes.remove(lane => lane.key === key);
      if (tenant.lanes.entries.length === 0) this.#tenants.remove(({ name }) => name === tenant.name);
    }
  }

  /** The key of the next lane among those that can send; undefined if none can. */
  next(canSend: (key: string) => boolean): string | undefined {
    const ready = (lane: ShareLane): boolean => canSend(lane.key);
    const tenant = this.#tenants.next(
      () => 1,
      ({ lanes }) => lanes.some(ready),
    );
    return tenant?.lanes.next(({ weight }) => weight, ready)?.key;
  }
}

interface Tenant {
  readonly name: string;
  readonly lanes: Ring<ShareLane>;
}

/** Deficit round robin with unit costs. */
class Ring<T> {
  #turns: Turn<T>[] = [];
  #at = 0;

  get entries(): readonly T[] {
    return this.#turns.map(({ entry }) => entry);
  }

  some(holds: (entry: T) => boolean): boolean {
    return this.#turns.some(({ entry }) => holds(entry));
  }

  add(entry: T): void {
    this.#turns.push({ entry, deficit: 0 });
  }

  replace(entry: T, same: (other: T) => boolean): void {
    const index = this.#turns.findIndex(turn => same(turn.entry));
    if (index < 0) this.add(entry);
    else this.#turns[index] = { entry, deficit: this.#turns[index]!.deficit };
  }

  remove(which: (entry: T) => boolean): void {
    const index = this.#turns.findIndex(turn => which(turn.entry));
    if (index < 0) return;
    this.#turns.splice(index, 1);
    if (index < this.#at) this.#at -= 1;
    if (this.#at >= this.#turns.length) this.#at = 0;
  }

  next(weight: (entry: T) => number, canSend: (entry: T) => boolean): T | undefined {
    for (let looked = 0; looked <= this.#turns.length; looked++) {
      const turn = this.#turns[this.#at];
      if (!turn) return undefined;
      if (!canSend(turn.entry)) turn.deficit = 0;
      if (turn.deficit >= 1) {
        turn.deficit -= 1;
        return turn.entry;
      }
      this.#advance(weight);
    }
    return undefined;
  }

  #advance(weight: (entry: T) => number): void {
    this.#at = (this.#at + 1) % this.#turns.length;
    const turn = this.#turns[this.#at]!;
    turn.deficit += Math.max(1, weight(turn.entry));
  }
}

const MAX_WEIGHT = 4;
/** Share of the window: a job this far ahead of schedule has weight 1, this far behind weight 4. */
const MARGIN = 0.25;

/** 1 for a job ahead of schedule to 4 for a late one: its share of time left minus its share of work left (D-18). */
export function urgency(job: {
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly nowMs: number;
  readonly remaining: number;
  readonly total: number;
}): number {
  const windowMs = Math.max(1, job.expiresAtMs - job.createdAtMs);
  const timeLeft = Math.max(0, job.expiresAtMs - job.nowMs) / windowMs;
  const workLeft = job.total === 0 ? 0 : job.remaining / job.total;
  const slack = Math.min(MARGIN, Math.max(-MARGIN, timeLeft - workLeft));
  return 1 + ((MAX_WEIGHT - 1) * (MARGIN - slack)) / (2 * MARGIN);
}

import { Entry } from '../order/account.js';
import { WeightedLane } from '../order/weighted-lane.js';

/** The keys of the lanes of one tenant, which share its turns by weight. */
type TenantLanes = WeightedLane<string>;

/**
 * Chooses the next lane (D-18): tenants share by lines, and the lanes of a tenant by
 * weight, so that a tenant with many jobs, or a job with many models, gets no larger
 * share. A blocked lane loses its turn.
 */
export class FairShare {
  readonly #tenants = new WeightedLane<TenantLanes>(() => 1);
  readonly #byName = new Map<string, Entry<TenantLanes>>();
  readonly #lanes = new Map<
    string,
    { readonly tenant: string; readonly entry: Entry<string>; weight: number }
  >();
  readonly #weightOf = (key: string): number => this.#lanes.get(key)?.weight ?? 1;
  #made = 0;

  get size(): number {
    return this.#lanes.size;
  }

  /** Adds a lane or changes its weight. */
  put({
    key,
    tenant,
    weight,
  }: {
    readonly key: string;
    readonly tenant: string;
    /** Lines per turn, >= 1. */
    readonly weight: number;
  }): void {
    const weightOfLane = Math.max(1, weight);
    const known = this.#lanes.get(key);
    if (known !== undefined) {
      known.weight = weightOfLane;
      return;
    }
    const entry = this.#entry(key, key);
    this.#lanes.set(key, { tenant, entry, weight: weightOfLane });
    (this.#byName.get(tenant) ?? this.#addTenant(tenant)).item.append(entry);
  }

  remove(key: string): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) return;
    this.#lanes.delete(key);
    const tenant = this.#byName.get(lane.tenant)!;
    tenant.item.remove(lane.entry);
    if (tenant.item.size > 0) return;
    this.#tenants.remove(tenant);
    this.#byName.delete(lane.tenant);
  }

  /** The key of the next lane among those that can send; undefined if none can. */
  next(canSend: (key: string) => boolean): string | undefined {
    const ready = new Map<string, boolean>();
    // Asked once at most: it may look at a whole job.
    const isReady = (key: string): boolean => {
      const known = ready.get(key) ?? canSend(key);
      ready.set(key, known);
      return known;
    };
    const hasReady = (lanes: TenantLanes): boolean => lanes.next(false, isReady) !== undefined;
    const tenant = this.#tenants.next(false, hasReady);
    const key = tenant?.item.next(false, isReady)?.item;
    if (tenant === undefined || key === undefined) return undefined;
    tenant.item.turn(key, isReady);
    this.#tenants.turn(tenant.place.tenant, hasReady);
    return key;
  }

  #addTenant(name: string): Entry<TenantLanes> {
    const entry = this.#entry<TenantLanes>(name, new WeightedLane(this.#weightOf));
    this.#byName.set(name, entry);
    this.#tenants.append(entry);
    return entry;
  }

  #entry<T>(name: string, item: T): Entry<T> {
    const since = (this.#made += 1);
    return new Entry(item, {
      isRealtime: false,
      tenant: name,
      sinceMs: since,
      orderMs: since,
      agesAtMs: Infinity,
      costMs: 1,
      bytes: 0,
    });
  }
}
const MAX_WEIGHT = 4;
/**
 * Share of the window: a job this far ahead of schedule has weight 1, this far
 * behind weight 4.
 */
const MARGIN = 0.25;

/**
 * 1 for a job ahead of schedule to 4 for a late one: its share of time left minus its
 * share of work left (D-18).
 */
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

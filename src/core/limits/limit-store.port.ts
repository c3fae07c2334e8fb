import { type Limits, type Refusal, type Spent, type RateLimitStatus } from './limit-rules.js';

/** A request that asks to be let in. */
export interface LimitAdmission {
  /** Who is counted: a tenant, or a key with limits of its own. */
  readonly subject: string;
  /** Unique among all that are in. */
  readonly ticket: string;
  readonly limits: Limits;
}

export interface Entry {
  readonly refusal?: Refusal;
  /** After this request, when it was let in. */
  readonly standing: RateLimitStatus;
}

/** Who has used what: in this process, or in a Redis that several gateways share. One contract suite proves both. */
export interface LimitStore {
  /** One atomic step: a request that is refused uses nothing up. */
  enter(entrance: LimitAdmission): Promise<Entry>;
  /** What a request turned out to use. */
  charge(entrance: LimitAdmission, spent: Spent): Promise<void>;
  /** Gives the place among the concurrent ones back. Twice is once. */
  leave(entrance: LimitAdmission): Promise<void>;
  /** These are still in. Whoever is not renewed within the lease has left: its gateway died. */
  renew(entrances: readonly LimitAdmission[]): Promise<void>;
}

/** Milliseconds for which a place is kept without a renewal. */
export const PLACE_LEASE_MS = 60_000;

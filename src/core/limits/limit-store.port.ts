import {
  type Limits,
  type RateLimitRefusal,
  type Charge,
  type RateLimitStatus,
} from './limit-rules.js';

/** A request to admit. */
export interface LimitAdmission {
  /** The counted subject: a tenant, or a key with its own limits. */
  readonly subject: string;
  /** Unique among all running requests. */
  readonly ticket: string;
  readonly limits: Limits;
}

export interface AdmissionResult {
  readonly refusal?: RateLimitRefusal;
  /** What is left of the limits; a request that was admitted is counted. */
  readonly status: RateLimitStatus;
}

/**
 * Usage per subject, in this process or in a Redis shared by several gateways. One
 * contract suite tests both.
 */
export interface LimitStore {
  /** Atomic: a rejected request uses nothing. */
  admit(admission: LimitAdmission): Promise<AdmissionResult>;
  /** Adds what a request has used. */
  charge(admission: LimitAdmission, spent: Charge): Promise<void>;
  /** Releases the slot of the concurrency limit. Idempotent. */
  release(admission: LimitAdmission): Promise<void>;
  /**
   * Renews the slots of running requests. A slot that is not renewed within its lease is
   * free: its gateway died.
   */
  renew(admissions: readonly LimitAdmission[]): Promise<void>;
}

/** Milliseconds after which a slot that was not renewed is free. */
export const SLOT_LEASE_MS = 60_000;

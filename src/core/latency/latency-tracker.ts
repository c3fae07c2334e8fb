import { SlotMap } from '../shared/slot-map.js';
import { RecentMap } from '../shared/recent-map.js';
import { type RequestKey } from '../request/request-key.js';
import { type LatencyPhases, type LatencyStamps, summarize } from './latency-summary.js';

export interface LatencyTrackerOptions {
  /** Milliseconds for which a summary is kept after its request settled (60000). */
  readonly ttlMs: number;
  /** Settled summaries kept at most; the oldest goes first (1000). */
  readonly recent?: number;
}

interface Settled {
  readonly phases: LatencyPhases;
  readonly settledAtMs: number;
}

/**
 * Measures the phases of each request. An entry lives until its request settles; the TTL starts at `complete` (D-11),
 * because requests can last longer than 60 s.
 */
export class LatencyTracker {
  readonly #ttlMs: number;
  readonly #running = new SlotMap<RequestKey, LatencyStamps>();
  /** In the order of settling. */
  readonly #settled: RecentMap<Settled, RequestKey>;

  constructor(options: LatencyTrackerOptions) {
    this.#ttlMs = options.ttlMs;
    this.#settled = new RecentMap(options.recent ?? 1_000);
  }

  /** Running and settled entries. */
  get size(): number {
    return this.#running.size + this.#settled.size;
  }

  /** Starts the clock of a request. Starting one that runs changes nothing: its age counts from the first start. */
  start(key: RequestKey, nowMs: number): void {
    if (this.#running.has(key)) return;
    this.#running.set(key, {
      enqueuedAtMs: nowMs,
      dequeuedAtMs: undefined,
      batchWaitMs: 0,
      grpcStartedAtMs: undefined,
      readyMs: undefined,
    });
  }

  dequeued(key: RequestKey, nowMs: number, batchWaitMs: number): void {
    const stamps = this.#running.get(key);
    if (stamps === undefined) return;
    stamps.dequeuedAtMs = nowMs;
    stamps.batchWaitMs += batchWaitMs;
  }

  grpcStarted(key: RequestKey, nowMs: number): void {
    const stamps = this.#running.get(key);
    if (stamps !== undefined) stamps.grpcStartedAtMs = nowMs;
  }

  /** The worker answered and reported its time for preparation and waiting for the device. */
  ready(key: RequestKey, readyMs: number): void {
    const stamps = this.#running.get(key);
    if (stamps !== undefined) stamps.readyMs = readyMs;
  }

  /** Queued again: the times of the lost attempt are dropped, its age stays (D-06). */
  requeued(key: RequestKey): void {
    const stamps = this.#running.get(key);
    if (stamps === undefined) return;
    stamps.dequeuedAtMs = stamps.grpcStartedAtMs = undefined;
  }

  /** The request settled: its phases, once; undefined for one that is unknown or settled already. Starts its TTL. */
  complete(key: RequestKey, nowMs: number): LatencyPhases | undefined {
    const stamps = this.#running.get(key);
    if (stamps === undefined) return undefined;
    this.#running.delete(key);
    const phases = summarize(stamps, nowMs);
    this.#settled.add(key, { phases, settledAtMs: nowMs });
    return phases;
  }

  /** Phases reached so far, or those of a request that settled less than the TTL ago. */
  get(key: RequestKey, nowMs: number): LatencyPhases | undefined {
    const stamps = this.#running.get(key);
    if (stamps !== undefined) return summarize(stamps);
    const settled = this.#settled.get(key);
    return settled === undefined || this.#isOver(settled, nowMs) ? undefined : settled.phases;
  }

  /** Drops summaries past their TTL, never a running request. @returns their number; O(dropped) */
  sweep(nowMs: number): number {
    return this.#settled.dropWhile(settled => this.#isOver(settled, nowMs));
  }

  #isOver({ settledAtMs }: Settled, nowMs: number): boolean {
    return nowMs - settledAtMs >= this.#ttlMs;
  }
}

import { type SlotOffer } from '../../core/dispatch/worker.port.js';

/** What one worker of a model could take now, and what is known of its pace. */
export interface WorkerOffer {
  readonly offer: SlotOffer;
  /** Request credits in all; 1 or more. */
  readonly total: number;
  /** Recent duration of its calls; 0: none yet. */
  readonly latencyMs: number;
}

/**
 * The worker to use next: the largest free share of its slots, so that a large worker does not take everything; then the
 * largest share that REALTIME may still overdraw; then the faster one. The overdraft is offered only when no worker has
 * a free slot. Of equals the first.
 */
export function leastLoaded(offers: readonly WorkerOffer[]): SlotOffer | undefined {
  let best: WorkerOffer | undefined;
  for (const candidate of offers) if (!best || isBetter(candidate, best)) best = candidate;
  return best?.offer;
}

function isBetter(a: WorkerOffer, b: WorkerOffer): boolean {
  const free = a.offer.free / a.total - b.offer.free / b.total;
  if (free !== 0) return free > 0;
  const urgent = a.offer.urgent / a.total - b.offer.urgent / b.total;
  return urgent === 0 ? a.latencyMs < b.latencyMs : urgent > 0;
}

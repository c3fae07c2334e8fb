import { type SlotOffer, type WorkerOffer } from '../../core/dispatch/worker.port.js';
import { isReady, type WorkerView } from './worker-view.js';

/**
 * The worker to use next: the largest free share of its slots, so that a large worker
 * does not take everything; then the largest share that REALTIME may still overdraw;
 * then the faster one. The overdraft is offered only when no worker has a free slot. Of
 * equals the first.
 */
export function leastLoaded(offers: readonly WorkerOffer[]): SlotOffer | undefined {
  let best: WorkerOffer | undefined;
  for (const candidate of offers) if (!best || isBetter(candidate, best)) best = candidate;
  return best;
}

function isBetter(a: WorkerOffer, b: WorkerOffer): boolean {
  const free = a.free / a.total - b.free / b.total;
  if (free !== 0) return free > 0;
  const urgent = a.urgent / a.total - b.urgent / b.total;
  return urgent === 0 ? a.latencyMs < b.latencyMs : urgent > 0;
}

/**
 * The offers for a request that the workers in `avoid` gave back. Another worker with a
 * free slot comes first. A worker that keeps rejecting gets the request again only when
 * no other one serves; otherwise the request waits for another one.
 */
export function withoutAvoided(
  offers: readonly WorkerOffer[],
  workers: readonly {
    readonly id: string;
    readonly state: WorkerView['state'];
    /** It has answered a request since it last refused one. */
    readonly isTrusted: boolean;
  }[],
  avoid: readonly string[],
): readonly WorkerOffer[] {
  const others = offers.filter(({ workerId }) => !avoid.includes(workerId));
  if (others.some(({ free }) => free > 0)) return others;
  const isServed = workers.some(worker => !avoid.includes(worker.id) && isReady(worker));
  if (!isServed) return offers;
  return offers.filter(
    ({ workerId }) =>
      !avoid.includes(workerId) ||
      workers.some(({ id, isTrusted }) => id === workerId && isTrusted),
  );
}

/**
 * How much less of its slots a favourite may have free than the emptiest worker; beyond
 * that, waiting costs more than it saves.
 */
const CLEARLY_FULLER = 1 / 4;

/**
 * The worker that most likely computed the same beginning before. Every key ranks the
 * workers in an order of its own (rendezvous hashing), so equal keys meet at one worker,
 * without stored state and from any gateway, and a worker that comes or goes moves only
 * its own keys. The first of that order that is not clearly fuller than the emptiest;
 * without a free slot the least loaded.
 */
export function favourite(offers: readonly WorkerOffer[], affinity: string): SlotOffer | undefined {
  const most = Math.max(...offers.map(freeShare));
  if (!(most > 0)) return leastLoaded(offers);
  const near = offers.filter(offer => offer.free > 0 && most - freeShare(offer) <= CLEARLY_FULLER);
  const ranked = near.map(offer => ({ offer, rank: rankOf(affinity, offer.workerId) }));
  return ranked.reduce((best, next) => (next.rank > best.rank ? next : best)).offer;
}

const freeShare = ({ free, total }: WorkerOffer): number => free / total;

/**
 * FNV-1a with a final mix, so that names that differ in their last digit end far apart.
 */
export function rankOf(affinity: string, workerId: string): number {
  let hash = 2166136261;
  for (const character of `${affinity}/${workerId}`)
    hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

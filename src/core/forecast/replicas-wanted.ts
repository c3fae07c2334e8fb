import { type HeapItem, KeyedHeap } from '../order/keyed-heap.js';

/** Busy for a larger part of the time than this, replicas let waits grow without end. */
const BUSY_AT_MOST = 0.8;
/** Most replicas that are asked for at once. */
const MOST = 1024;

/** A request that waits. */
interface WaitingWork {
  /** Device milliseconds that it takes. */
  readonly workMs: number;
  /** Milliseconds from now; less than 0: it should have started before. */
  readonly startInMs: number;
  /** Milliseconds that it could wait at most when it came. */
  readonly allowedMs: number;
}

/** What the replicas of a model have to do. */
export interface ReplicaDemand {
  /** In the order in which they go. */
  readonly waiting: readonly WaitingWork[];
  /** Device milliseconds that are left of each request that a replica has. */
  readonly running: readonly number[];
  /** Device milliseconds that come with each millisecond, at the recent rate. */
  readonly load: number;
  /** Devices of one replica: requests that it computes side by side. */
  readonly devices: number;
}

/**
 * The least number of replicas, all of one kind, with which all that waits starts in time and
 * none is busy for more than 0.8 of the time. Of a request that has less than half of its
 * time left it is asked to start within half: replicas that are added now come too late for it.
 * @returns from 0 (nothing is there and nothing comes) to 1024
 */
export function replicasWanted({ waiting, running, load, devices }: ReplicaDemand): number {
  const jobs = waiting.map(({ workMs, startInMs, allowedMs }) => ({
    workMs,
    byMs: Math.max(startInMs, allowedMs / 2),
  }));
  const isEmpty = jobs.length === 0 && running.length === 0;
  const least = Math.max(isEmpty ? 0 : 1, Math.ceil(load / devices / BUSY_AT_MOST));
  const keeps = (replicas: number): boolean => startInTime(jobs, running, replicas * devices);
  let [low, high] = [least, least];
  while (high < MOST && !keeps(high)) [low, high] = [high + 1, Math.max(1, high * 2)];
  high = Math.min(high, MOST);
  // More devices never make a request start later.
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keeps(middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

/**
 * The same of a queue of which only the rate is known, at which requests leave it.
 * @param now `replicas` that take work, the part of their slots that is `busy`, milliseconds until
 *   what waits has left, and how many there may be
 */
export const replicasByRate = (now: {
  readonly replicas: number;
  readonly busy: number;
  readonly drainMs: number;
  readonly targetMs: number;
}): number =>
  Math.min(
    MOST,
    Math.ceil(now.replicas * Math.max(now.busy / BUSY_AT_MOST, now.drainMs / now.targetMs)),
  );

/** Each request takes the device that is free first. */
function startInTime(
  jobs: readonly { readonly workMs: number; readonly byMs: number }[],
  running: readonly number[],
  devices: number,
): boolean {
  if (devices === 0) return jobs.length === 0;
  const free = new KeyedHeap<HeapItem>();
  for (let at = 0; at < devices; at++) free.put({ heapIndex: -1 }, running[at] ?? 0);
  // More run than so many devices take: the rest goes on as soon as one is free.
  const all = [...running.slice(devices).map(workMs => ({ workMs, byMs: Infinity })), ...jobs];
  for (const { workMs, byMs } of all) {
    const startMs = free.keys[0]!;
    if (startMs > byMs) return false;
    free.put(free.items[0]!, startMs + workMs);
  }
  return true;
}

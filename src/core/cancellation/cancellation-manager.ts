import { SlotMap } from '../shared/slot-map.js';
import { DomainError } from '../shared/domain-error.js';
import { callersId, type RequestKey, requestKey } from '../request/request-key.js';
import { type RequestPriority } from '../request/request-priority.js';

export type CancelStage = 'queued' | 'in_flight';

export interface CancelInfo {
  readonly model: string;
  readonly priority: RequestPriority;
}

/** Selects requests of a bulk cancel; an absent field matches any. */
export interface CancelFilter extends Partial<CancelInfo> {
  readonly stage?: CancelStage;
  readonly tenant?: string;
}

export type CancelOutcome =
  | { readonly found: false }
  | { readonly found: true; readonly stage: 'queued' }
  | { readonly found: true; readonly stage: 'in_flight'; readonly workerId: string };

interface Tracked extends CancelInfo {
  priority: RequestPriority;
  /** The worker that has it; undefined while it is queued. */
  workerId: string | undefined;
}

/**
 * Knows where each request can be cancelled; the scheduler acts. Cancelling removes the entry, so a second cancel, or
 * one after completion, finds nothing.
 */
export class CancellationManager {
  readonly #tracked = new SlotMap<RequestKey, Tracked>();

  /** Requests that can still be cancelled. */
  get size(): number {
    return this.#tracked.size;
  }

  /** Starts tracking as queued. Throws `duplicate_request_id` while one of that id is tracked. */
  register(key: RequestKey, info: CancelInfo): void {
    if (this.#tracked.has(key))
      throw new DomainError('duplicate_request_id', `Request ${callersId(key)} is still running.`);
    this.#tracked.set(key, { model: info.model, priority: info.priority, workerId: undefined });
  }

  /** The request was sent to a worker. No-op once cancelled or done. */
  inFlight(key: RequestKey, workerId: string): void {
    const tracked = this.#tracked.get(key);
    if (tracked !== undefined) tracked.workerId = workerId;
  }

  /** The request is queued again: its worker died (D-06). No-op once cancelled or done. */
  requeued(key: RequestKey): void {
    const tracked = this.#tracked.get(key);
    if (tracked !== undefined) tracked.workerId = undefined;
  }

  /** No-op once cancelled or done. */
  reprioritized(key: RequestKey, priority: RequestPriority): void {
    const tracked = this.#tracked.get(key);
    if (tracked !== undefined) tracked.priority = priority;
  }

  /** The request ended by itself. No-op once cancelled. */
  unregister(key: RequestKey): void {
    this.#tracked.delete(key);
  }

  /** Removes the entry. @returns where to stop the request */
  cancel(key: RequestKey): CancelOutcome {
    const tracked = this.#tracked.get(key);
    if (tracked === undefined) return { found: false };
    this.#tracked.delete(key);
    const { workerId } = tracked;
    return workerId === undefined ? { found: true, stage: 'queued' } : { found: true, stage: 'in_flight', workerId };
  }

  /** Keys of matching requests, oldest first. */
  keys(filter: CancelFilter = {}): RequestKey[] {
    const { tenant } = filter;
    const isOwn = (key: RequestKey): boolean =>
      tenant === undefined || key === requestKey({ tenant, id: callersId(key) });
    return [...this.#tracked].filter(([key, tracked]) => isOwn(key) && matches(tracked, filter)).map(([key]) => key);
  }
}

function matches(tracked: Tracked, { model, priority, stage }: CancelFilter): boolean {
  const isAt: CancelStage = tracked.workerId === undefined ? 'queued' : 'in_flight';
  return (
    (model === undefined || tracked.model === model) &&
    (priority === undefined || tracked.priority === priority) &&
    (stage === undefined || isAt === stage)
  );
}

import { type LiveQueueLine, type LiveRequest } from '../../contracts/events/live-event.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { SlotMap } from '../../core/shared/slot-map.js';
import { DEFAULT_TENANT, type RequestKey } from '../../core/request/request-key.js';
import { RecentMap } from '../../core/shared/recent-map.js';

export interface LedgerRequest {
  readonly tenant: string;
  readonly view: LiveRequest;
}

type Queue = { -readonly [K in keyof LiveQueueLine]: LiveQueueLine[K] };
type Stage = 'realtime' | 'batch' | 'running';

const MAX_ENDED = 1000;

/**
 * The sum of all dispatch events (D-23): queues by model, and requests from acceptance until a thousand later ones
 * have ended. A few map operations per event, with or without listeners.
 */
export class LiveLedger {
  readonly #queues = new Map<string, Queue>();
  readonly #live = new SlotMap<RequestKey, LedgerRequest>();
  readonly #ended = new RecentMap<LedgerRequest, RequestKey>(MAX_ENDED);

  constructor(models: readonly string[]) {
    for (const model of models) this.#queueOf(model);
  }

  queue(model: string): LiveQueueLine {
    return { ...this.#queueOf(model) };
  }

  queues(): Record<string, LiveQueueLine> {
    return Object.fromEntries([...this.#queues].map(([model, queue]) => [model, { ...queue }]));
  }

  find(key: RequestKey): LedgerRequest | undefined {
    return this.#live.get(key) ?? this.#ended.get(key);
  }

  /** Every tenant's request of that id. */
  named(id: string): LedgerRequest[] {
    return [...this.#live.values(), ...this.#ended.values()].filter(({ view }) => view.request_id === id);
  }

  /** True when the queue of the event's model has changed. */
  apply(event: DispatchEvent): boolean {
    const queue = this.#queueOf(event.model);
    switch (event.type) {
      case 'accepted':
        this.#live.set(event.key, accepted(event));
        queue[event.priority]++;
        return true;
      case 'rejected':
        queue.rejected++;
        return true;
      case 'settled':
        return this.#settle(event, queue);
      default:
        return this.#update(event, queue);
    }
  }

  #update(event: Exclude<DispatchEvent, { type: 'accepted' | 'rejected' | 'settled' }>, queue: Queue): boolean {
    const request = this.#live.get(event.key);
    if (!request) return false;
    const before = stageOf(request.view);
    const view = { ...request.view, ...changes(event, request.view) };
    this.#live.set(event.key, { tenant: request.tenant, view });
    const after = stageOf(view);
    if (before === after) return false;
    queue[before]--;
    queue[after]++;
    return true;
  }

  #settle(event: Extract<DispatchEvent, { type: 'settled' }>, queue: Queue): boolean {
    const request = this.#live.get(event.key);
    if (!request) return false;
    const { status: state, code, phases, attempts, batchSize: batch_size } = event;
    queue[stageOf(request.view)]--;
    queue[state]++;
    this.#live.delete(event.key);
    const view = { ...request.view, state, code, phases, attempts, batch_size };
    this.#ended.add(event.key, { tenant: request.tenant, view });
    return true;
  }

  #queueOf(model: string): Queue {
    const known = this.#queues.get(model);
    if (known) return known;
    const zero = { realtime: 0, batch: 0, running: 0, rejected: 0, completed: 0, failed: 0, cancelled: 0 };
    const queue: Queue = { model, ...zero };
    this.#queues.set(model, queue);
    return queue;
  }
}

const stageOf = ({ state, priority }: LiveRequest): Stage => (state === 'running' ? 'running' : priority);

function accepted(event: Extract<DispatchEvent, { type: 'accepted' }>): LedgerRequest {
  const { requestId: request_id, model, priority, tenant = DEFAULT_TENANT } = event;
  return { tenant, view: { request_id, model, priority, state: 'queued', attempts: 0, aged: false } };
}

function changes(
  event: Exclude<DispatchEvent, { type: 'accepted' | 'rejected' | 'settled' }>,
  view: LiveRequest,
): Partial<LiveRequest> {
  switch (event.type) {
    case 'promoted':
      return { aged: true };
    case 'leased': {
      const { workerId: worker, groupId: id, groupSize: size, reason, attempt: attempts } = event;
      const phases = { queueWaitMs: event.queueWaitMs, batchWaitMs: event.batchWaitMs };
      return { state: 'running', worker, attempts, group: { id, size, reason }, phases };
    }
    case 'reprioritized':
      return { priority: event.priority };
    case 'requeued':
      return { state: 'queued', worker: undefined, group: undefined };
    case 'cancel_requested':
      return { cancel_reason: event.reason };
    case 'cancel_signalled':
      return view;
  }
}

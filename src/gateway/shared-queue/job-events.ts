import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { type Redis } from 'ioredis';
import { type Observable, Subject } from 'rxjs';
import { Admission } from '../../core/queue/admission.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { ModelList } from '../../platform/config/config.module.js';
import { SharedQueueLink } from './shared-queue-link.js';
import { ModelQueues } from './model-queues.js';

/** One event of a BullMQ queue, as its stream has it. */
export interface QueueEvent {
  readonly queue: string;
  readonly model: string;
  readonly jobId: string;
  readonly event: string;
  /** JSON of what the worker completed it with. */
  readonly returnvalue?: string;
  readonly failedReason?: string;
  /** State before. */
  readonly prev?: string;
  /** Of `reprioritized`: the new one. */
  readonly priority?: string;
}

const BLOCK_MS = 5000;
const PAUSE_MS = 200;

/**
 * Hears what happens in all queues on one connection. BullMQ's `QueueEvents` takes a
 * connection per queue, is deaf for five seconds after each break, and ends for good at a
 * result that is no JSON; the streams it reads are read here instead.
 *
 * Reading starts where each stream ends at boot and continues from the last entry seen,
 * so a break loses nothing that Redis still has. What it lost with its memory is found
 * by `SharedRequests`.
 */
@Injectable()
export class JobEvents implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(JobEvents.name);
  readonly #events = new Subject<QueueEvent>();
  readonly #cursors = new Map<string, string>();
  /** By the key of its stream. */
  readonly #queues = new Map<string, Pick<QueueEvent, 'queue' | 'model'>>();
  #client: Redis | undefined;
  #closing = false;
  readonly #stopped = Promise.withResolvers<void>();
  #loop: Promise<void> | undefined;

  readonly events$: Observable<QueueEvent> = this.#events.asObservable();

  constructor(
    private readonly link: SharedQueueLink,
    private readonly queues: ModelQueues,
    private readonly models: ModelList,
    private readonly admission: Admission,
    private readonly clock: ProcessClock,
  ) {}

  /** Does not wait for Redis: a gateway starts without it, and is not ready. */
  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    for (const { id } of this.models.current) this.#listen(id);
    // From the first entry on: none of a job may be missed, and those of earlier
    // jobs change nothing.
    this.models.changes$.subscribe(({ added }) =>
      added.forEach(id => this.#cursors.set(this.#listen(id), '0-0')),
    );
    // What is taken leaves the queue for all gateways: its bounds and the places in it
    // are those of all.
    this.events$.subscribe(({ event, model }) => {
      if (event === 'active') this.admission.drained(model, this.clock.nowMs());
    });
    this.#client = this.link.listener();
    this.#loop = this.#run(this.#client);
  }

  async onApplicationShutdown(): Promise<void> {
    this.#closing = true;
    this.#client?.disconnect();
    // A client that is ended between two attempts to reach Redis forgets who
    // waits for it.
    this.#stopped.resolve();
    await this.#loop;
    this.#events.complete();
  }

  /** Ends with the process only. */
  async #run(client: Redis): Promise<void> {
    while (!this.#closing) {
      try {
        await Promise.race([this.#stopped.promise, this.#readOn(client)]);
      } catch (error) {
        if (this.#closing) return;
        this.#logger.debug({ err: error }, 'reading events failed; trying again');
        await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  /** @returns the key of the stream */
  #listen(model: string): string {
    const queue = this.link.keys.queue(model);
    const stream = `${this.queues.base(queue)}events`;
    this.#queues.set(stream, { queue, model });
    return stream;
  }

  async #readOn(client: Redis): Promise<void> {
    const unread = [...this.#queues.keys()].filter(key => !this.#cursors.has(key));
    await this.#findEnds(client, unread);
    if (this.#cursors.size > 0) return this.#read(client);
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  }

  async #findEnds(client: Redis, streams: readonly string[]): Promise<void> {
    const ends = await Promise.all(
      streams.map(
        async key => [key, await client.xrevrange(key, '+', '-', 'COUNT', 1)] as const,
      ),
    );
    for (const [key, [last]] of ends) this.#cursors.set(key, last?.[0] ?? '0-0');
  }

  async #read(client: Redis): Promise<void> {
    const keys = [...this.#cursors.keys()];
    const replies = await client.xread(
      'COUNT',
      1000,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      ...keys,
      ...this.#cursors.values(),
    );
    for (const [key, entries] of replies ?? []) this.#take(key, entries);
  }

  #take(key: string, entries: [id: string, fields: string[]][]): void {
    const queue = this.#queues.get(key);
    for (const [id, pairs] of entries) {
      this.#cursors.set(key, id);
      const fields = fieldsOf(pairs);
      if (fields.jobId !== undefined && fields.event !== undefined)
        this.#emit({ ...fields, ...queue } as QueueEvent);
    }
  }

  /** A listener that throws must not end the reading. */
  #emit(event: QueueEvent): void {
    try {
      this.#events.next(event);
    } catch (error) {
      this.#logger.error(
        { err: error, jobId: event.jobId },
        'an event of the queue could not be handled',
      );
    }
  }
}

function fieldsOf(pairs: readonly string[]): Partial<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (let at = 0; at + 1 < pairs.length; at += 2)
    fields[pairs[at] ?? ''] = pairs[at + 1] ?? '';
  return fields;
}

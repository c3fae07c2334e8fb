import { once } from 'node:events';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { type Redis } from 'ioredis';
import { Subject } from 'rxjs';
import { type QueueLog } from '../log.js';
import { pairsOf } from '../order/redis-order.js';
import { type QueueLink } from './queue-link.js';

/** One event of a BullMQ queue, as its stream has it. */
export interface QueueEvent {
  readonly model: string;
  readonly jobId: string;
  readonly event: string;
  /** What the worker completed the job with, as JSON. */
  readonly returnvalue?: string;
  readonly failedReason?: string;
  /** State of the job before. */
  readonly prev?: string;
  /** The new priority, of `reprioritized`. */
  readonly priority?: string;
}

const BLOCK_MS = 5000;
const PAUSE_MS = 200;

/** The event stream of a queue. */
interface EventStream {
  readonly model: string;
  /** The entry that was read last; undefined: its end is not known yet. */
  cursor: string | undefined;
}

/**
 * Hears what happens in all queues on one connection. BullMQ's `QueueEvents` takes a
 * connection per queue, is deaf for five seconds after each break, and ends for good at a
 * result that is no JSON; the streams it reads are read here instead.
 *
 * Reading starts where each stream ends at boot and continues from the last entry seen,
 * so a break loses nothing that Redis still has.
 */
export class JobEvents {
  readonly #events = new Subject<QueueEvent>();
  /** Streams by their Redis key. */
  readonly #streams = new Map<string, EventStream>();
  readonly #closing = new AbortController();
  #client: Redis | undefined;
  #loop: Promise<void> | undefined;

  readonly events$ = this.#events.asObservable();

  constructor(
    private readonly link: QueueLink,
    private readonly log: Pick<QueueLog, 'debug' | 'error'>,
  ) {}

  /** Does not wait for Redis. @param models whose queues are heard from now on */
  start(models: readonly string[]): void {
    for (const model of models) this.#listen(model, undefined);
    this.#client = this.link.listener();
    this.#loop = this.#run(this.#client);
  }

  /**
   * From the first entry on: none of a job of a new model may be missed, and those of earlier
   * jobs change nothing.
   */
  listen(model: string): void {
    this.#listen(model, '0-0');
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#client?.disconnect();
    await this.#loop;
    this.#events.complete();
  }

  /** Reads events until the process ends. */
  async #run(client: Redis): Promise<void> {
    const { signal } = this.#closing;
    // A client that is ended between two attempts to reach Redis forgets who
    // waits for it.
    const closed = once(signal, 'abort');
    while (!signal.aborted) {
      try {
        await Promise.race([closed, this.#readOn(client)]);
      } catch (error) {
        if (signal.aborted) return;
        this.log.debug({ err: error }, 'reading events failed; trying again');
        await pause(PAUSE_MS, signal);
      }
    }
  }

  #listen(model: string, cursor: string | undefined): void {
    this.#streams.set(`${this.link.keys.base(model)}events`, { model, cursor });
  }

  async #readOn(client: Redis): Promise<void> {
    if (this.#streams.size === 0) return pause(PAUSE_MS, this.#closing.signal);
    await Promise.all(
      this.#streams.entries().map(async ([key, stream]) => {
        if (stream.cursor !== undefined) return;
        const [last] = await client.xrevrange(key, '+', '-', 'COUNT', 1);
        stream.cursor = last?.[0] ?? '0-0';
      }),
    );
    const cursors = this.#streams.values().map(({ cursor = '0-0' }) => cursor);
    const places = ['STREAMS', ...this.#streams.keys(), ...cursors] as const;
    const replies = await client.xread('COUNT', 1000, 'BLOCK', BLOCK_MS, ...places);
    for (const [key, entries] of replies ?? []) this.#take(key, entries);
  }

  #take(key: string, entries: [id: string, fields: string[]][]): void {
    const stream = this.#streams.get(key)!;
    const { model } = stream;
    for (const [id, pairs] of entries) {
      stream.cursor = id;
      const fields: Partial<QueueEvent> = Object.fromEntries(pairsOf(pairs));
      if (fields.jobId !== undefined && fields.event !== undefined)
        this.#emit({ ...fields, model } as QueueEvent);
    }
  }

  /** A listener that throws must not end the reading. */
  #emit(event: QueueEvent): void {
    try {
      this.#events.next(event);
    } catch (error) {
      this.log.error(
        { err: error, jobId: event.jobId },
        'an event of the queue could not be handled',
      );
    }
  }
}

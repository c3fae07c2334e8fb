import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import {
  type ResponseAppend,
  type ResponseEnding,
  type ResponseRef,
  type ResponseRun,
} from '../../../core/request/response-record.js';
import { ResponseRecordStore } from '../../../platform/database/response-store.js';
import { StorageRetries } from '../../stored-work/storage-retries.js';

/** Responses in one transaction. */
const MOST_APPENDS = 256;

/**
 * An event as it is stored: with the tokens of the answer up to it, after those of
 * the event before.
 */
type StoredEvent = ResponseEvent & { token_ids?: readonly number[] };

/** How long events are collected for one transaction. */
const FLUSH_MS = 50;

/**
 * Writes the events of all background responses of this gateway: those of
 * 50 ms in one transaction, so that the load of the database does not grow
 * with the number of tokens.
 */
@Injectable()
export class ResponseEventLog implements OnApplicationShutdown {
  readonly #appended = new EventEmitter().setMaxListeners(0);
  #waiting: {
    readonly append: ResponseAppend;
    readonly resolve: (held: boolean) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(
    private readonly records: ResponseRecordStore,
    private readonly retries: StorageRetries,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    this.#flush();
    await this.#writing;
  }

  /**
   * Resolves when the events are durable; with false when the run was replaced or its
   * response has ended.
   * @param soon they are written without delay
   */
  append(append: ResponseAppend, soon = false): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ append, resolve, reject });
      if (soon || append.ending) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), FLUSH_MS);
    });
  }

  /** Events with numbers above `after`, in order. @param limit groups */
  async read(ref: ResponseRef, after: number, limit: number): Promise<readonly StoredEvent[]> {
    const groups = await this.records.events(ref, after, limit);
    return groups.flatMap(({ events }) =>
      events.map(json => parseBoundedJson(json, STORED_BOUNDS) as StoredEvent),
    );
  }

  /**
   * Resolves when this gateway wrote events of the response, after `ms`, or when the
   * signal is aborted.
   */
  async appended(ref: ResponseRef, ms: number, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const wake = (): void => waiting.abort();
    this.#appended.once(nameOf(ref), wake);
    signal.addEventListener('abort', wake, { once: true });
    await sleep(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
    this.#appended.off(nameOf(ref), wake);
    signal.removeEventListener('abort', wake);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length > 0) this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const portion = this.#waiting.slice(0, MOST_APPENDS);
      this.#waiting = this.#waiting.slice(MOST_APPENDS);
      try {
        const appends = portion.map(({ append }) => append);
        const held = await this.retries.written(() => this.records.append(appends));
        for (const { append, resolve } of portion) {
          resolve(held.has(append.run));
          this.#appended.emit(nameOf(append.run));
        }
      } catch (error) {
        for (const { reject } of portion) reject(error);
      }
    }
    // In the turn in which the loop ended: who was just resolved may append at once, and
    // must find a new one.
    this.#writing = undefined;
  }
}

const nameOf = ({ tenant, id }: ResponseRef): string => `${tenant} ${id}`;

/**
 * Its run was replaced, or its response was cancelled or deleted: nothing that it makes is
 * stored. Who runs it looks again how it ended.
 */
export class RunReplaced extends DomainError {
  constructor() {
    super('duplicate_request_id', 'Another run has this response, or ended it.');
  }
}

/**
 * Events of one run on their way to the database; while some are written, the next
 * ones are collected.
 */
export class DurableEvents {
  #collected: string[] = [];
  #bytes = 0;
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;

  /**
   * @param next number of the next event @param mostBytes that are collected
   *   before `add` waits
   */
  constructor(
    private readonly log: ResponseEventLog,
    private readonly run: ResponseRun,
    private next: number,
    private readonly mostBytes: number,
  ) {}

  /**
   * Resolves when there is room for more.
   * @param tokens of the answer: stored with the last of the events
   * @throws RunReplaced, or what the database throws
   */
  async add(events: readonly ResponseEvent[], tokens: readonly number[] = []): Promise<void> {
    for (const event of events) {
      const hasTokens = event === events.at(-1) && tokens.length > 0;
      const stored: StoredEvent = hasTokens ? { ...event, token_ids: tokens } : event;
      const json = writeJson(stored);
      this.#collected.push(json);
      this.#bytes += json.length;
    }
    if (this.#collected.length > 0) this.#writing ??= this.#write();
    if (this.#bytes >= this.mostBytes) await this.#writing;
    this.#demandSound();
  }

  /**
   * Resolves when all events are durable. @param ending the response ends
   * with these events
   */
  async end(events: readonly ResponseEvent[], ending?: ResponseEnding): Promise<void> {
    await this.#writing;
    this.#demandSound();
    this.#collected.push(...events.map(event => writeJson(event)));
    if (this.#collected.length > 0) await this.#append(ending);
    this.#demandSound();
  }

  async #write(): Promise<void> {
    try {
      while (this.#collected.length > 0 && this.#failure === undefined) await this.#append();
    } catch (error) {
      this.#failure = error as Error;
    } finally {
      this.#writing = undefined;
    }
  }

  /** The events that come while it waits for its transaction are part of the next one. */
  async #append(ending?: ResponseEnding): Promise<void> {
    const events = this.#collected;
    const soon = this.#bytes >= this.mostBytes;
    this.#collected = [];
    this.#bytes = 0;
    const first = this.next;
    this.next += events.length;
    const append = { run: this.run, first, events, ...(ending && { ending }) };
    if (!(await this.log.append(append, soon))) this.#failure = new RunReplaced();
  }

  #demandSound(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

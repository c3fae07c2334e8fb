import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import { type ResponseAppend, type ResponseRef } from '../../../core/request/response-record.js';
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

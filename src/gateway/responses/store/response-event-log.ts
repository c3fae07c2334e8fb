import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  type ResponseAppend,
  type ResponseEventGroup,
  type ResponseRecordStore,
  type ResponseRef,
  type ResponseRun,
} from '../../../core/request/response-record.port.js';
import { backoffMs } from '../../../core/shared/backoff.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { RESPONSE_RECORDS } from '../../../platform/database/database.tokens.js';

/** Responses in one transaction. */
const MOST_APPENDS = 256;
const RETRIES = { firstMs: 100, longestMs: 2000 };
/** Attempts to write while the database is away, about 20 s; then another gateway continues when the lease ends. */
const MOST_ATTEMPTS = 12;

interface WaitingAppend {
  readonly append: ResponseAppend;
  readonly resolve: (held: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes the events of all background responses of this gateway: those of `responses.flush_ms` in one transaction, so
 * that the load of the database does not grow with the number of tokens.
 */
@Injectable()
export class ResponseEventLog implements OnApplicationShutdown {
  readonly #logger = new Logger(ResponseEventLog.name);
  readonly #appended = new EventEmitter().setMaxListeners(0);
  #waiting: WaitingAppend[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(
    @Inject(RESPONSE_RECORDS) private readonly records: ResponseRecordStore,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    this.#flush();
    await this.#writing;
  }

  /**
   * Resolves when the events are durable; with false when the run was replaced or its response has ended.
   * @param soon they are written without delay
   */
  append(append: ResponseAppend, soon = false): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ append, resolve, reject });
      if (soon || append.ending) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), this.settings.responses.flushMs);
    });
  }

  /** Events with numbers above `after`, in order. @param limit groups */
  read(ref: ResponseRef, after: number, limit: number): Promise<readonly ResponseEventGroup[]> {
    return this.records.events(ref, after, limit);
  }

  /** Resolves when this gateway wrote events of the response, after `ms`, or when the signal is aborted. */
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
        const held = await this.#written(portion.map(({ append }) => append));
        for (const { append, resolve } of portion) {
          resolve(held.has(append.run));
          this.#appended.emit(nameOf(append.run));
        }
      } catch (error) {
        for (const { reject } of portion) reject(error);
      }
    }
    // In the turn in which the loop ended: who was just resolved may append at once, and must find a new one.
    this.#writing = undefined;
  }

  async #written(appends: readonly ResponseAppend[]): Promise<ReadonlySet<ResponseRun>> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await this.records.append(appends);
      } catch (error) {
        if (attempts === MOST_ATTEMPTS) throw error;
        this.#logger.warn({ reason: (error as Error).message }, 'events of responses could not be written yet');
        await sleep(backoffMs(attempts, RETRIES));
      }
    }
  }
}

const nameOf = ({ tenant, id }: ResponseRef): string => `${tenant} ${id}`;

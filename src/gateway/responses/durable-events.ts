import { type ResponseEvent } from '../../contracts/openai/responses.js';
import {
  type ResponseEnding,
  type ResponseRun,
} from '../../core/request/response-record.js';
import { type ResponseEventLog } from './response-event-log.js';

/**
 * An event as it is stored: with the tokens of the answer up to it, after those of
 * the event before.
 */
export type StoredEvent = ResponseEvent & { token_ids?: readonly number[] };

export const withTokens = (
  event: ResponseEvent,
  tokens: readonly number[],
): StoredEvent => (tokens.length > 0 ? { ...event, token_ids: tokens } : event);

/**
 * Its run was replaced, or its response was cancelled or deleted: nothing that it
 * makes is stored.
 */
export class RunReplaced extends Error {}

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
   * Resolves when there is room for more. @throws RunReplaced, or what
   * the database throws
   */
  async add(events: readonly ResponseEvent[]): Promise<void> {
    for (const event of events) {
      const json = JSON.stringify(event);
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
    this.#collected.push(...events.map(event => JSON.stringify(event)));
    if (this.#collected.length > 0) await this.#append(ending);
    this.#demandSound();
  }

  async #write(): Promise<void> {
    try {
      while (this.#collected.length > 0 && this.#failure === undefined)
        await this.#append();
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

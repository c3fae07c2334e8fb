import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type ResponseEnding, type ResponseRun } from '../../../core/request/response-record.js';
import { type ResponseEventLog } from './response-event-log.js';

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
   * @throws DomainError `duplicate_request_id` when the run was replaced, or its response was
   *   cancelled or deleted: nothing that it makes is stored. Or what the database throws
   */
  async add(events: readonly ResponseEvent[], tokens: readonly number[] = []): Promise<void> {
    for (const event of events) {
      const hasTokens = event === events.at(-1) && tokens.length > 0;
      const json = writeJson(hasTokens ? { ...event, token_ids: tokens } : event);
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
    if (!(await this.log.append(append, soon)))
      this.#failure = new DomainError(
        'duplicate_request_id',
        'Another run has this response, or ended it.',
      );
  }

  #demandSound(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

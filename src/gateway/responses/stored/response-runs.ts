import { Injectable } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type ResponseEvent, type ResponseObject } from '../../../contracts/openai/responses.js';
import {
  type ResponseEnding,
  type ResponseRecord,
  type ResponseRef,
  type StoredResponseStatus,
} from '../../../core/request/response-record.js';
import { ResponseRecordStore } from '../../../platform/database/response-store.js';
import { WorkRuns } from '../../stored-work/work-runs.js';
import { ResponseWriter } from '../writer/response-writer.js';
import { DurableEvents } from './durable-events.js';
import { ResponseEventLog } from './response-event-log.js';
import { isOpen, ResponseRecords } from './response-records.js';

/** Collected events of one response that are written immediately, in bytes. */
const FLUSH_BYTES = 65_536;

/** How long after its end the events can be streamed: who was cut off comes back within a day. */
const KEPT_EVENTS_MS = 86_400_000;

/** Groups of events that are read at a time. */
const PORTION = 1000;

/** A background response that this gateway continues from what is durable of it. */
export interface ResponseRunState {
  readonly record: ResponseRecord;
  readonly writer: ResponseWriter;
  readonly events: DurableEvents;
  /** Tokens of the answer so far, where the engine reports them. */
  readonly tokens: number[];
  /** Writes the last events, and the response as it ended. */
  readonly end: (events: readonly ResponseEvent[]) => Promise<void>;
}

/** Begins runs of background responses, and ends them from outside on any gateway. */
@Injectable()
export class ResponseRuns {
  constructor(
    private readonly store: ResponseRecordStore,
    private readonly records: ResponseRecords,
    private readonly log: ResponseEventLog,
    private readonly works: WorkRuns,
  ) {}

  /**
   * Earlier runs, on any gateway, can no longer write. Undefined: the response has ended
   * or is gone.
   */
  async begin(ref: ResponseRef): Promise<ResponseRunState | undefined> {
    const record = await this.store.begin(ref);
    if (!record) return undefined;
    const all = await this.#allEvents(ref);
    const writer = ResponseWriter.resumed(all);
    const tokens = all.flatMap(({ token_ids: ids = [] }) => ids);
    const events = new DurableEvents(this.log, record, writer.nextSequence, FLUSH_BYTES);
    const end = (last: readonly ResponseEvent[]): Promise<void> => {
      const { response } = writer;
      return events.end(last, {
        status: response.status as ResponseEnding['status'],
        response: writeJson(response),
        outputBytes: Buffer.byteLength(writeJson(response.output)),
        eventsUntilMs: Date.now() + KEPT_EVENTS_MS,
      });
    };
    return { record, writer, events, tokens, end };
  }

  /** Status of a response; one that was deleted counts as cancelled. */
  async statusOf(ref: ResponseRef): Promise<StoredResponseStatus> {
    return (await this.store.head(ref, Date.now()))?.status ?? 'cancelled';
  }

  /**
   * @throws DomainError `response_not_found`, or `invalid_value` for one that does not
   *   run in the background
   */
  async cancel(ref: ResponseRef): Promise<ResponseObject> {
    const { background } = await this.records.response(ref);
    if (!background) {
      const message = `Only background responses can be cancelled; \`${ref.id}\` was created without \`background\`.`;
      throw invalidField('response_id', message);
    }
    // The end first: it holds all that is durable when the generation stops.
    await this.stop(ref);
    await this.works.cancel(ref, 'client');
    return this.records.response(ref);
  }

  /** False: it had ended otherwise. `cancelled`: it was cancelled or deleted before. */
  async stop(ref: ResponseRef): Promise<boolean | 'cancelled'> {
    if (await this.endWith(ref, writer => writer.cancel())) return true;
    return (await this.statusOf(ref)) === 'cancelled' && 'cancelled';
  }

  /**
   * Ends a response if it has not ended; the run that has it, on any gateway, cannot
   * write any more.
   */
  async endWith(
    ref: ResponseRef,
    last: (writer: ResponseWriter) => readonly ResponseEvent[],
  ): Promise<boolean> {
    const run = await this.begin(ref);
    await run?.end(last(run.writer));
    return run !== undefined;
  }

  /** One that runs is stopped. @throws DomainError `response_not_found` */
  async remove(ref: ResponseRef): Promise<void> {
    const head = await this.records.head(ref);
    await this.store.remove(ref);
    if (isOpen(head)) await this.works.cancel(ref, 'client');
  }

  async #allEvents(ref: ResponseRef, after = -1): ReturnType<ResponseEventLog['read']> {
    const events = await this.log.read(ref, after, PORTION);
    const last = events.at(-1);
    if (!last) return events;
    return [...events, ...(await this.#allEvents(ref, last.sequence_number))];
  }
}

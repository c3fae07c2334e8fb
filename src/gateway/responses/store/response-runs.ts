import { Inject, Injectable } from '@nestjs/common';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import {
  type ResponseRecord,
  type ResponseRef,
  type StoredResponseStatus,
} from '../../../core/request/response-record.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { ResponseWriter } from '../response-writer.js';
import { DurableEvents, type StoredEvent } from './durable-events.js';
import { ResponseEventLog } from './response-event-log.js';
import { endingOf } from './response-records.js';
import { ResponseRecordStore } from '../../../platform/database/response-store.js';

/** Groups of events that are read at a time. */
const PORTION = 1000;

/** A background response that this gateway continues from what is durable of it. */
export interface ResponseRunState {
  readonly record: ResponseRecord;
  readonly writer: ResponseWriter;
  readonly events: DurableEvents;
  /** Of the answer so far, where the engine reports them. */
  readonly tokens: number[];
  /** Writes the last events, and the response as it ended. */
  readonly end: (events: readonly ResponseEvent[]) => Promise<void>;
}

@Injectable()
export class ResponseRuns {
  constructor(
    private readonly store: ResponseRecordStore,
    private readonly log: ResponseEventLog,
    @Inject(SETTINGS) private readonly settings: Settings,
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
    const events = new DurableEvents(
      this.log,
      record,
      writer.nextSequence,
      this.settings.responses.flushBytes,
    );
    const end = (last: readonly ResponseEvent[]): Promise<void> =>
      events.end(last, endingOf(writer.response, this.settings));
    return { record, writer, events, tokens, end };
  }

  /** One that was deleted counts as cancelled. */
  async statusOf(ref: ResponseRef): Promise<StoredResponseStatus> {
    return (await this.store.head(ref, Date.now()))?.status ?? 'cancelled';
  }

  async #allEvents(ref: ResponseRef): Promise<readonly StoredEvent[]> {
    const all: StoredEvent[] = [];
    for (;;) {
      const groups = await this.log.read(ref, all.at(-1)?.sequence_number ?? -1, PORTION);
      if (groups.length === 0) return all;
      all.push(
        ...groups.flatMap(({ events }) =>
          events.map(json => JSON.parse(json) as StoredEvent),
        ),
      );
    }
  }
}

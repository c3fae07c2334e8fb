import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { FINAL_EVENTS, type ResponseEvent } from '../../../contracts/openai/responses.js';
import { type ResponseRef } from '../../../core/request/response-record.port.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { type StoredEvent } from './durable-events.js';
import { ResponseEventLog } from './response-event-log.js';
import { isOpen, ResponseRecords, responseOfRecord } from './response-records.js';

/** Groups of events in memory per reader. */
const PORTION = 16;
/** How often events of other gateways are looked for; those of this one are reported. */
const POLL_MS = 250;

/** Events of background responses for readers on any gateway: only what is durable, in order, each once. */
@Injectable()
export class ResponseFeed implements OnModuleDestroy {
  readonly #stop = new AbortController();

  constructor(
    private readonly log: ResponseEventLog,
    private readonly records: ResponseRecords,
  ) {}

  /** Readers continue at another gateway. */
  onModuleDestroy(): void {
    this.#stop.abort();
  }

  /** @throws DomainError `response_not_found`, or `invalid_value` for one whose events are not stored */
  async demandEvents({ tenant, id }: ResponseRef): Promise<void> {
    const record = await this.records.get(tenant, id);
    const [first] = await this.log.read(record, -1, 1);
    if (first?.first === 0) return;
    const reason = responseOfRecord(record).background
      ? 'its events are no longer stored; retrieve it without `stream`'
      : 'it was not created with `background: true`';
    throw new DomainError('invalid_value', `\`stream\`: ${id} cannot be streamed: ${reason}.`, { param: 'stream' });
  }

  /**
   * Events after number `after` (-1: all) until the final one. A slow reader holds one portion of them.
   * @throws DomainError `response_not_found` when the response is deleted meanwhile
   */
  async *follow(ref: ResponseRef, after: number, left: AbortSignal): AsyncGenerator<ResponseEvent> {
    const signal = AbortSignal.any([left, this.#stop.signal]);
    let last = after;
    while (!signal.aborted) {
      const groups = await this.log.read(ref, last, PORTION);
      for (const { token_ids: _, ...event } of groups.flatMap(({ events }) => events.map(parsed))) {
        last = event.sequence_number;
        yield event;
        if (FINAL_EVENTS.has(event.type)) return;
      }
      if (groups.length > 0) continue;
      const record = await this.records.get(ref.tenant, ref.id);
      if (!isOpen(record) && record.nextSequence <= last + 1) return;
      await this.log.appended(ref, POLL_MS, signal);
    }
  }
}

const parsed = (json: string): StoredEvent => JSON.parse(json) as StoredEvent;

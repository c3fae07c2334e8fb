import { Injectable } from '@nestjs/common';
import { type ResponseEvent, type ResponseItem, type ResponseObject } from '../../../contracts/openai/responses.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { type BackgroundResponse, type ResponseStore, type StoredResponse } from '../response-store.port.js';
import { BackgroundResponses } from './background-responses.js';
import { ResponseEventLog } from './response-event-log.js';
import { ResponseFeed } from './response-feed.js';
import { inputOf, isOpen, ResponseRecords, responseOfRecord } from './response-records.js';
import { ResponseStops } from './response-stops.js';

export interface InputPageRequest {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** Id of the last item of the page before. */
  readonly after?: string;
}

export interface InputPage {
  readonly data: readonly ResponseItem[];
  readonly hasMore: boolean;
}

/** Responses that outlive their request: what creates them, and what callers ask of them later. */
@Injectable()
export class StoredResponsesService implements ResponseStore {
  constructor(
    private readonly records: ResponseRecords,
    private readonly background: BackgroundResponses,
    private readonly stops: ResponseStops,
    private readonly log: ResponseEventLog,
    private readonly feed: ResponseFeed,
  ) {}

  conversation(tenant: string, id: string): Promise<readonly ResponseItem[]> {
    return this.records.conversation(tenant, id);
  }

  items(tenant: string, ids: readonly string[]): Promise<readonly ResponseItem[]> {
    return this.records.items(tenant, ids);
  }

  save(tenant: string, { response, input }: StoredResponse): Promise<void> {
    return this.records.create(tenant, { response, input });
  }

  startBackground(work: BackgroundResponse): Promise<void> {
    return this.background.start(work);
  }

  events(tenant: string, id: string, after: number, signal: AbortSignal): AsyncIterable<ResponseEvent> {
    return this.feed.follow({ tenant, id }, after, signal);
  }

  /** @throws DomainError `response_not_found` */
  async retrieve(tenant: string, id: string): Promise<ResponseObject> {
    return responseOfRecord(await this.records.get(tenant, id));
  }

  /** @throws DomainError `response_not_found`, or `invalid_value` for one whose events are not stored */
  async demandEvents(tenant: string, id: string): Promise<void> {
    const record = await this.records.get(tenant, id);
    const groups = await this.log.read(record, -1, 1);
    if (groups[0]?.first === 0) return;
    const { background } = responseOfRecord(record);
    const reason = background
      ? 'its events are no longer stored; retrieve it without `stream`'
      : 'it was not created with `background: true`';
    throw new DomainError('invalid_value', `\`stream\`: ${id} cannot be streamed: ${reason}.`, { param: 'stream' });
  }

  /** @throws DomainError `response_not_found`, or `invalid_value` for an unknown `after` */
  async inputItems(tenant: string, id: string, { limit, order, after }: InputPageRequest): Promise<InputPage> {
    const items = [...inputOf(await this.records.get(tenant, id))];
    if (order === 'desc') items.reverse();
    const at = after === undefined ? 0 : items.findIndex(item => item.id === after) + 1;
    if (after !== undefined && at === 0)
      throw new DomainError('invalid_value', '`after` must be the id of an item of this list.', { param: 'after' });
    return { data: items.slice(at, at + limit), hasMore: items.length > at + limit };
  }

  cancel(tenant: string, id: string): Promise<ResponseObject> {
    return this.stops.cancel(tenant, id);
  }

  /** One that runs is stopped. @throws DomainError `response_not_found` */
  async remove(tenant: string, id: string): Promise<void> {
    const record = await this.records.get(tenant, id);
    await this.records.remove(record);
    if (isOpen(record)) await this.stops.abort(record);
  }
}

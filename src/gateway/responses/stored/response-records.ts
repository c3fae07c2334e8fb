import { Injectable } from '@nestjs/common';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type ResponseItem } from '../../../contracts/openai/response-items.js';
import { type ResponseObject } from '../../../contracts/openai/responses.js';
import { type InputItemsQueryDto } from '../../../contracts/openai/stored-response.dto.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import {
  type ResponseProgress,
  type ResponseRecord,
  type ResponseRef,
} from '../../../core/request/response-record.js';
import { Settings } from '../../../platform/config/settings.js';
import { ResponseRecordStore } from '../../../platform/database/response-store.js';

const OPEN: readonly string[] = ['queued', 'in_progress'];

export const isOpen = ({ status }: Pick<ResponseRecord, 'status'>): boolean =>
  OPEN.includes(status);

/** Responses and conversations of a tenant, as items. */
@Injectable()
export class ResponseRecords {
  constructor(
    private readonly store: ResponseRecordStore,
    private readonly settings: Settings,
  ) {}

  /**
   * Before the work: what runs at the same time may exceed the quota together. @throws
   * `storage_quota_exceeded`
   */
  async demandRoom(tenant: string): Promise<void> {
    const quota = this.settings.responses.tenantQuotaBytes;
    if (quota === 0 || (await this.store.bytesOf(tenant)) < quota) return;
    throw new DomainError(
      'storage_quota_exceeded',
      `The stored responses of the tenant have reached ${quota} bytes; delete responses, send \`store: false\`, ` +
        'or ask for a higher responses.tenant_quota_bytes.',
      { param: 'store' },
    );
  }

  /** @param events JSON: the first ones */
  async create(
    tenant: string,
    {
      response,
      input,
      request,
    }: Pick<ResponseRecord, 'request'> & {
      readonly response: ResponseObject;
      /** Input items of this turn, without those of earlier responses. */
      readonly input: readonly ResponseItem[];
    },
    events: readonly string[] = [],
  ): Promise<void> {
    const { id, previous_response_id: previousId, status } = response;
    const nowMs = Date.now();
    const previous =
      previousId === null ? undefined : await this.store.head({ tenant, id: previousId }, nowMs);
    const inputJson = writeJson(input);
    const responseJson = writeJson(response);
    const ownBytes = Buffer.byteLength(inputJson) + Buffer.byteLength(responseJson);
    const record: ResponseRecord = {
      tenant,
      id,
      status,
      input: inputJson,
      response: responseJson,
      ...(previousId !== null && { previousId }),
      chainLength: (previous?.chainLength ?? 0) + 1,
      chainBytes: (previous?.chainBytes ?? 0) + ownBytes,
      ...(request !== undefined && { request }),
      createdAtMs: nowMs,
      expiresAtMs: nowMs + this.settings.responses.keepMs,
      epoch: 0,
      nextSequence: events.length,
    };
    await this.store.create(record, events);
  }

  remove(ref: ResponseRef): Promise<boolean> {
    return this.store.remove(ref);
  }

  /** @throws DomainError `response_not_found` */
  async response({ tenant, id }: ResponseRef): Promise<ResponseObject> {
    return responseOfRecord(await this.#get(tenant, id));
  }

  async #get(tenant: string, id: string): Promise<ResponseRecord> {
    return (await this.store.find({ tenant, id }, Date.now())) ?? notFound(id);
  }

  /** @throws DomainError `response_not_found` */
  async head(ref: ResponseRef): Promise<ResponseProgress> {
    return (await this.store.head(ref, Date.now())) ?? notFound(ref.id);
  }

  /**
   * Input and output of the response and of all before it, oldest first.
   * @throws DomainError `previous_response_not_found`, or `invalid_value` for one that
   *   cannot be continued
   */
  async conversation(tenant: string, id: string): Promise<readonly ResponseItem[]> {
    const head = await this.store.head({ tenant, id }, Date.now());
    if (!head) throw previousNotFound(id);
    this.#demandContinuable(id, head);
    const chain = await this.store.chain({ tenant, id }, Date.now());
    // A response of the conversation was deleted or has expired: what it held must
    // not be used.
    if (chain.length !== head.chainLength) throw previousNotFound(id);
    return [...chain].reverse().flatMap(itemsOf);
  }

  /**
   * Items of stored outputs; their ids begin with that of their response.
   * @throws DomainError `invalid_value` for more responses, or bytes of them, than a
   *   conversation may have
   */
  async items(tenant: string, ids: ReadonlySet<string>): Promise<readonly ResponseItem[]> {
    const { conversationLength, conversationBytes } = this.settings.responses;
    const responses = new Set(Array.from(ids, responseOf));
    if (responses.size > conversationLength)
      throw tooManyReferences(`${conversationLength} responses`);
    const found: ResponseItem[] = [];
    let bytes = 0;
    for (const id of responses) {
      const record = await this.store.find({ tenant, id }, Date.now());
      if (!record) continue;
      bytes += Buffer.byteLength(record.input) + Buffer.byteLength(record.response);
      if (bytes > conversationBytes)
        throw tooManyReferences(`responses of ${conversationBytes} bytes in total`);
      for (const item of itemsOf(record)) if (ids.has(item.id)) found.push(item);
    }
    return found;
  }

  /**
   * @throws DomainError `response_not_found`, or `invalid_value` for an unknown `after`
   */
  async inputItems(tenant: string, id: string, { limit, order, after }: InputItemsQueryDto) {
    const items = parseBoundedJson(
      (await this.#get(tenant, id)).input,
      STORED_BOUNDS,
    ) as ResponseItem[];
    if (order === 'desc') items.reverse();
    const at = after === undefined ? 0 : items.findIndex(item => item.id === after) + 1;
    if (after !== undefined && at === 0)
      throw invalidField('after', '`after` must be the id of an item of this list.');
    return { data: items.slice(at, at + limit), hasMore: items.length > at + limit };
  }

  #demandContinuable(id: string, { chainLength, chainBytes, ...head }: ResponseProgress): void {
    const { conversationLength, conversationBytes } = this.settings.responses;
    if (isOpen(head)) throw cannotContinue(id, `it is ${head.status}; wait until it has ended`);
    if (chainLength >= conversationLength)
      throw cannotContinue(
        id,
        `its conversation has the maximum of ${conversationLength} responses`,
      );
    if (chainBytes >= conversationBytes)
      throw cannotContinue(
        id,
        `its conversation has ${chainBytes} bytes; the maximum is ${conversationBytes}`,
      );
  }
}

/** The response as it is now: a snapshot of one that runs is older than its status. */
const responseOfRecord = ({ response, status }: ResponseRecord): ResponseObject => ({
  ...(parseBoundedJson(response, STORED_BOUNDS) as ResponseObject),
  status,
});

const itemsOf = (record: ResponseRecord): readonly ResponseItem[] => [
  ...(parseBoundedJson(record.input, STORED_BOUNDS) as readonly ResponseItem[]),
  ...responseOfRecord(record).output,
];

/** `msg_` + number of the response + place in it, 4 digits. */
const responseOf = (item: string): string => `resp_${item.slice(item.indexOf('_') + 1, -4)}`;

const SHOWN_CHARACTERS = 80;
const shown = (id: string): string => id.slice(0, SHOWN_CHARACTERS);

function notFound(id: string): never {
  const message = `There is no stored response \`${shown(id)}\`: unknown, deleted or expired.`;
  throw new DomainError('response_not_found', message, { param: 'response_id' });
}

const tooManyReferences = (most: string): DomainError =>
  invalidField('input', `\`input\`: its item references may name at most ${most}.`);

const previousNotFound = (id: string): DomainError =>
  new DomainError(
    'previous_response_not_found',
    `Previous response with id '${shown(id)}' not found: unknown, deleted, expired or not stored.`,
    { param: 'previous_response_id' },
  );

const cannotContinue = (id: string, reason: string): DomainError =>
  invalidField(
    'previous_response_id',
    `\`previous_response_id\` ${shown(id)} cannot be continued: ${reason}.`,
  );

import { Injectable, Logger } from '@nestjs/common';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type FastifyReply } from 'fastify';
import { IgnoredFields } from '../../../contracts/openai/ignored-fields.js';
import { type ItemReference, type ResponseItem } from '../../../contracts/openai/response-items.js';
import { MOST_ITEMS } from '../../../contracts/openai/response.dto.js';
import { type ResponseObject, type ResponseRequest } from '../../../contracts/openai/responses.js';
import { samplingIn } from '../../../contracts/openai/sampling.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { principalOf } from '../../../platform/auth/access-hooks.js';
import { Settings } from '../../../platform/config/settings.js';
import { type JsonRequest } from '../../http/json-body.js';
import { httpCaller } from '../../inference/inference.service.js';
import { usedTier } from '../../inference/service-tier.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { type TextTurn } from '../../text/text-generation.service.js';
import { type parseResponse } from '../parse/parse-response.js';
import { newId, newResponse } from '../parse/response-object.js';
import { generationOf } from '../writer/response-generation.js';
import { ResponseRecords } from './response-records.js';

interface KnownConversation {
  /** The input of this turn, with references replaced by their items. */
  readonly input: readonly ResponseItem[];
  /** The items of earlier turns, then the input of this one. */
  readonly all: readonly ResponseItem[];
}

/** What a request for a response is answered with. */
export interface ResponseTurn extends TextTurn {
  readonly request: ResponseRequest;
  readonly conversation: KnownConversation;
  /** The response as it begins, without output. */
  readonly response: ResponseObject;
}

/** What a request continues, and what it leaves to be continued. */
@Injectable()
export class Conversations {
  readonly #logger = new Logger(Conversations.name);

  constructor(
    private readonly catalog: ModelCatalog,
    private readonly records: ResponseRecords,
    private readonly settings: Settings,
  ) {}

  /** @throws DomainError for the first thing wrong with the request */
  async turn(
    parse: typeof parseResponse,
    { fields }: JsonRequest,
    reply: FastifyReply,
  ): Promise<ResponseTurn> {
    const { settings } = this;
    const catalog = this.catalog.usableBy(principalOf(reply.request));
    const ignored = new IgnoredFields(settings.compat.strict);
    const { store: stores } = settings.responses;
    const { request, model, tier } = parse(fields, { catalog, newId, stores, ignored });
    const caller = httpCaller(reply, { tier, model });
    const conversation = await this.of(caller.tenant, request);
    const head = {
      id: newId('resp'),
      created_at: Math.floor(Date.now() / 1000),
      model: model.id,
      service_tier: usedTier(caller.priority, tier),
    };
    const sampling = samplingIn(model.options.sampling ?? {});
    return {
      request,
      caller,
      conversation,
      generation: generationOf(request, conversation.all, catalog),
      response: newResponse(request, head, sampling),
      ignored: ignored.paths,
    };
  }

  /** @throws DomainError for what is unknown, or when nothing was said at all */
  async of(
    tenant: string,
    request: Pick<ResponseRequest, 'previous_response_id' | 'input' | 'instructions' | 'store'>,
  ): Promise<KnownConversation> {
    const { previous_response_id: previous } = request;
    if (request.store) await this.records.demandRoom(tenant);
    const earlier = previous === null ? [] : await this.records.conversation(tenant, previous);
    const input = await this.#resolved(tenant, request.input, earlier);
    const all = [...earlier, ...input];
    if (all.length > MOST_ITEMS) throw tooLong(all.length);
    if (all.length > 0 || request.instructions !== null) return { input, all };
    throw new DomainError(
      'missing_required_parameter',
      '`input` is required: it must hold at least one item.',
      {
        param: 'input',
      },
    );
  }

  /**
   * A caller that continues from a response can rely on it: it is stored before its end
   * is sent, or says that it is not.
   * @returns receives a response that is over; returns fields that follow from it
   */
  finisher(
    tenant: string,
    { store }: Pick<ResponseRequest, 'store'>,
    { input }: KnownConversation,
  ): (response: ResponseObject) => Promise<Partial<Pick<ResponseObject, 'store'>>> {
    return async response => {
      if (!store) return {};
      try {
        await this.records.create(tenant, { response, input });
        return { store };
      } catch (error) {
        this.#logger.error(`response ${response.id} could not be stored`, error);
        return { store: false };
      }
    };
  }

  async #resolved(
    tenant: string,
    input: ResponseRequest['input'],
    earlier: readonly ResponseItem[],
  ): Promise<readonly ResponseItem[]> {
    const wanted = input.flatMap(item => (item.type === 'item_reference' ? [item.id] : []));
    const missing = new Set(wanted);
    // An item of megabytes, referenced in thousands of places, would become gigabytes.
    if (missing.size < wanted.length) throw invalidInput('must reference each item at most once');
    const known = new Map(earlier.map(item => [item.id, item]));
    for (const id of known.keys()) missing.delete(id);
    const isDone = missing.size === 0 || !this.settings.responses.store;
    const found = isDone ? [] : await this.records.items(tenant, missing);
    for (const item of found) known.set(item.id, item);
    return input.map((item, index) =>
      item.type === 'item_reference' ? itemOf(item, index, known) : item,
    );
  }
}

const tooLong = (items: number): DomainError =>
  invalidInput(`and what it continues may have at most ${MOST_ITEMS} items; got ${items}`);

const invalidInput = (rule: string): DomainError => invalidField('input', `\`input\` ${rule}.`);

function itemOf(
  { id }: ItemReference,
  index: number,
  known: ReadonlyMap<string, ResponseItem>,
): ResponseItem {
  const item = known.get(id);
  if (item) return item;
  const param = `input[${index}].id`;
  throw invalidField(
    param,
    `Item with id '${id}' not found: items are known while they are stored.`,
  );
}

import { Injectable } from '@nestjs/common';
import { ANSWER_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { readObject } from '@switchyard/engine-api/field-problems.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { objectIn } from '@switchyard/engine-api/json-in.js';
import { OBJECT, objectsUpTo } from '@switchyard/engine-api/rules.js';
import { type FastifyReply } from 'fastify';
import { withInnerFields, withJsonFields } from '../../contracts/formats/json-fields.js';
import { onOneLine, SSE_DONE, sseEvent } from '../../contracts/formats/server-sent-event.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { type ItemReference, type ResponseItem } from '../../contracts/openai/response-items.js';
import { CreateResponseRequest } from '../../contracts/openai/response.dto.js';
import { type ResponseObject, FINAL_EVENTS } from '../../contracts/openai/responses.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { Settings } from '../../platform/config/settings.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { httpCaller } from '../inference/inference.service.js';
import { usedTier } from '../inference/service-tier.js';
import { ModelCatalog } from '../models/model-catalog.js';
import {
  type AnswerForm,
  TextGenerationService,
  type TextTurn,
} from '../text/text-generation.service.js';
import { readInput } from './parse/parse-response.js';
import { newId } from './parse/response-object.js';
import { Conversations } from './stored/conversations.js';
import { failureOf } from './writer/response-generation.js';

/**
 * The events of another server, each byte by byte but for the fields that the gateway
 * sets in the response.
 */
function nativeEventsOf(fields: Fields, finish: NativeTurn['finish']): AnswerForm {
  let last: Fields = {};
  /** The final event: it is sent when the response is stored. */
  let final: Buffer | undefined;
  let next = 0;
  return {
    format(json) {
      const event = eventIn(json);
      if (!event) return '';
      next = Number(event.sequence_number ?? next) + 1;
      const type = String(event.type);
      if (!isObject(event.response)) return sseEvent(type, onOneLine(json));
      last = { ...event.response, ...fields };
      const whole = withInnerFields(json, 'response', fields);
      if (!FINAL_EVENTS.has(type)) return sseEvent(type, onOneLine(whole));
      final = whole;
      return '';
    },
    async lastFrame(failure) {
      if (failure) return failedEvents(failure, last, next) + SSE_DONE;
      if (!final) return SSE_DONE;
      const stored = await finish(last as unknown as ResponseObject);
      const type = String(eventIn(final)!.type);
      const whole = withInnerFields(final, 'response', { ...stored });
      return sseEvent(type, onOneLine(whole)) + SSE_DONE;
    },
    async whole(said) {
      const answer = withJsonFields(said, fields);
      const response = parseBoundedJson(answer.toString('utf8'), ANSWER_BOUNDS) as ResponseObject;
      return withJsonFields(answer, { ...(await finish(response)) });
    },
  };
}

/** What the other server did not tell: its last state, and why it ended. */
function failedEvents(failure: DomainError, last: Fields, next: number): string {
  const error = failureOf(failure);
  const { code, message } = error;
  const response = { ...last, status: 'failed', error: { code, message } };
  const failed = { type: 'response.failed', response, sequence_number: next + 1 };
  return (
    sseEvent('error', { type: 'error', error, sequence_number: next }) +
    sseEvent('response.failed', failed)
  );
}

/**
 * Undefined: no event. An engine has read it before, so it is one of an engine that
 * keeps no promise.
 */
const eventIn = (json: Buffer): Fields | undefined =>
  objectIn(json.toString('utf8'), ANSWER_BOUNDS);

/** Characters that tell conversations apart. */
const IDENTIFYING_CHARACTERS = 512;

const ITEMS = objectsUpTo(100_000, OBJECT);

/** What the gateway changes in a request and in its response. */
interface NativeTurn {
  readonly sent: Fields;
  readonly answered: Fields;
  readonly finish: ReturnType<Conversations['finisher']>;
}

/**
 * Requests that a server behind a model answers by itself, by the capability `responses`:
 * they go there as they came but for `model` and `store`, fields that are unknown here
 * included. The store is the gateway's: what a request continues becomes its input, and
 * the response is stored here.
 */
@Injectable()
export class NativeResponses {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    private readonly conversations: Conversations,
    private readonly settings: Settings,
  ) {}

  /**
   * @returns false: it is not such a request, and nothing was done
   * @throws DomainError as long as nothing was sent
   */
  async serve({ fields, bytes }: JsonRequest, reply: FastifyReply): Promise<boolean> {
    const model = this.catalog
      .usableBy(principalOf(reply.request))
      .answering(fields.model, 'responses');
    if (!model) return false;
    const dto = parseDto(CreateResponseRequest, fields);
    const { responses, compat } = this.settings;
    const { store: stores } = responses;
    const needsStore = (dto.store ?? stores) || continues(dto);
    if (dto.background || !dto.generate || (needsStore && !stores)) return false;
    const caller = httpCaller(reply, { tier: dto.service_tier, model });
    const turn = needsStore ? await this.#stored(dto, caller.tenant) : STATELESS;
    const task = {
      form: 'response',
      maxTokens: dto.max_output_tokens ?? 0,
      n: 1,
    } as const;
    const body = withJsonFields(bytes, turn.sent);
    const generation = { model, task, beginning: beginningOf(dto), body };
    const ignored = new IgnoredFields(compat.strict);
    ignored.priority(fields);
    await this.#answer(dto, turn, { caller, generation, ignored: ignored.paths });
    return true;
  }

  #answer(
    { service_tier: tier, stream }: CreateResponseRequest,
    { answered, finish }: NativeTurn,
    turn: TextTurn,
  ): Promise<void> {
    const service_tier = usedTier(turn.caller.priority, tier);
    const fields = { model: turn.generation.model.id, service_tier, ...answered };
    return this.generations.say(turn, nativeEventsOf(fields, finish), stream);
  }

  async #stored(dto: CreateResponseRequest, tenant: string): Promise<NativeTurn> {
    const { previous_response_id, instructions, store = true } = dto;
    const asked = {
      previous_response_id,
      instructions,
      input: itemsOf(dto.input),
      store,
    };
    const known = await this.conversations.of(tenant, asked);
    // Ids of stored items are the gateway's: the other server would look for them in
    // its own store.
    const whole = {
      previous_response_id: null,
      input: known.all.map(({ id: _, ...item }) => item),
    };
    return {
      sent: { store: false, ...(continues(dto) && whole) },
      answered: { id: newId('resp'), previous_response_id, store },
      finish: this.conversations.finisher(tenant, asked, known),
    };
  }
}

const STATELESS: NativeTurn = {
  sent: { store: false },
  answered: {},
  finish: () => Promise.resolve({}),
};

const continues = ({ previous_response_id, input }: CreateResponseRequest): boolean =>
  previous_response_id !== null || (Array.isArray(input) && input.some(isReference));

const isReference = (item: unknown): boolean =>
  (item as { type?: unknown } | null)?.type === 'item_reference';

/**
 * Items as they came, those of hosted tools included: only the other server knows what
 * they may be.
 */
function itemsOf(input: unknown): readonly (ResponseItem | ItemReference)[] {
  if (!Array.isArray(input)) return readInput(input, newId);
  return readObject(ITEMS, input, 'input').map(
    item =>
      ({
        ...item,
        type: item.type ?? 'message',
        id: item.id ?? newId('item'),
      }) as ResponseItem,
  );
}

function beginningOf({ instructions, input }: CreateResponseRequest): string {
  const first: unknown = Array.isArray(input) ? input[0] : input;
  return ((instructions ?? '') + writeJson(first ?? '')).slice(0, IDENTIFYING_CHARACTERS);
}

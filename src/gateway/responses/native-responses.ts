import { Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { withInnerFields, withJsonFields } from '../../contracts/formats/json-fields.js';
import { CreateResponseRequest } from '../../contracts/openai/response.dto.js';
import {
  type ItemReference,
  type ResponseItem,
} from '../../contracts/openai/response-items.js';
import { type ResponseObject, FINAL_EVENTS } from '../../contracts/openai/responses.js';
import { readObject } from '../../contracts/schema/field-problems.js';
import { OBJECT, objectsUpTo } from '../../contracts/schema/rules.js';
import { Settings } from '../../platform/config/settings.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { httpCaller } from '../inference/inference.service.js';
import { usedTier } from '../inference/request-priority.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { TextGenerationService, type TextTurn } from '../text/text-generation.service.js';
import { Conversations, type FinishResponse } from './conversations.js';
import { readInput } from './read-items.js';
import { failureOf } from './response-generation.js';
import { newId } from './response-object.js';
import {
  onOneLine,
  SSE_DONE,
  sseEvent,
} from '../../contracts/formats/server-sent-event.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { type OutputForm } from '../text/generation-output-stream.js';

type Json = Readonly<Record<string, unknown>>;

/** Fields that the gateway sets in what another server reads or wrote. */
type NativeFields = Json;

/**
 * The events of another server, each byte by byte but for the fields that the gateway
 * sets in the response.
 */
class NativeEvents implements OutputForm {
  #last: Json = {};
  /** The final event: it is sent when the response is stored. */
  #final: Buffer | undefined;
  #next = 0;

  constructor(
    private readonly fields: NativeFields,
    private readonly finish: FinishResponse,
  ) {}

  format(json: Buffer): string {
    const event = eventIn(json);
    if (!event) return '';
    this.#next = Number(event.sequence_number ?? this.#next) + 1;
    const type = String(event.type);
    if (!isObject(event.response)) return sseEvent(type, onOneLine(json));
    this.#last = { ...event.response, ...this.fields };
    const whole = withInnerFields(json, 'response', this.fields);
    if (!FINAL_EVENTS.has(type)) return sseEvent(type, onOneLine(whole));
    this.#final = whole;
    return '';
  }

  async lastFrame(failure: DomainError | undefined): Promise<string> {
    return (failure ? this.#failed(failure) : await this.#ended()) + SSE_DONE;
  }

  async #ended(): Promise<string> {
    if (!this.#final) return '';
    const fields = await this.finish(this.#last as unknown as ResponseObject);
    return sseEvent(
      String(eventIn(this.#final)!.type),
      onOneLine(withInnerFields(this.#final, 'response', { ...fields })),
    );
  }

  /** What the other server did not tell: its last state, and why it ended. */
  #failed(failure: DomainError): string {
    const error = failureOf(failure);
    const response = {
      ...this.#last,
      status: 'failed',
      error: { code: error.code, message: error.message },
    };
    const events = [
      { type: 'error', error },
      { type: 'response.failed', response },
    ];
    return events
      .map(event => sseEvent(event.type, { ...event, sequence_number: this.#next++ }))
      .join('');
  }
}

/**
 * Undefined: no event. An engine has read it before, so it is one of an engine that
 * keeps no promise.
 */
function eventIn(json: Buffer): Json | undefined {
  try {
    const event: unknown = JSON.parse(json.toString('utf8'));
    return isObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

/** Characters that tell conversations apart. */
const IDENTIFYING_CHARACTERS = 512;

const ITEMS = objectsUpTo(100_000, OBJECT);

/** What the gateway changes in a request and in its response. */
interface NativeTurn {
  readonly sent: NativeFields;
  readonly answered: NativeFields;
  readonly finish: FinishResponse;
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
    const model = this.catalog.answering(fields.model, 'responses');
    if (!model) return false;
    const dto = parseDto(CreateResponseRequest, fields);
    const { store: stores } = this.settings.responses;
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
    await this.#answer(dto, turn, { caller, generation, ignored: [] });
    return true;
  }

  #answer(
    { service_tier: tier, stream }: CreateResponseRequest,
    { answered, finish }: NativeTurn,
    turn: TextTurn,
  ): Promise<void> {
    const service_tier = usedTier(turn.caller.priority, tier);
    const fields = { model: turn.generation.model.id, service_tier, ...answered };
    if (stream) return this.generations.stream(turn, new NativeEvents(fields, finish));
    return this.generations.answer(turn, async said => {
      const answer = withJsonFields(said, fields);
      const response = JSON.parse(answer.toString('utf8')) as ResponseObject;
      return withJsonFields(answer, { ...(await finish(response)) });
    });
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
  return ((instructions ?? '') + JSON.stringify(first ?? '')).slice(
    0,
    IDENTIFYING_CHARACTERS,
  );
}

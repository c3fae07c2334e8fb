import { Inject, Injectable, Optional } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { IgnoredFields } from '../../contracts/openai/field-rules.js';
import { type ResponseObject } from '../../contracts/openai/responses.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { type JsonRequest } from '../http/json-body.js';
import { httpCaller, type InferenceCaller } from '../inference/inference.service.js';
import { usedTier } from '../inference/request-priority.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { sendEvents } from '../text/generation-output-stream.js';
import {
  type Generation,
  TextGenerationService,
} from '../text/text-generation.service.js';
import { Conversations, type KnownConversation } from './conversations.js';
import { piecesOf } from './generation-pieces.js';
import {
  type ParsedResponse,
  parseInputCount,
  type ParseOptions,
  parseResponse,
} from './parse-response.js';
import { generationOf, inWordsOfResponses } from './response-generation.js';
import { NativeResponses } from './native-responses.js';
import { newId, newResponse } from './response-object.js';
import { RESPONSE_STORE, type ResponseStore } from './response-store.port.js';
import { type FinishResponse, followEvents, ResponseStream } from './response-stream.js';
import { ResponseWriter } from './response-writer.js';

const nowS = (): number => Math.floor(Date.now() / 1000);

interface Turn extends ParsedResponse {
  readonly caller: InferenceCaller;
  readonly conversation: KnownConversation;
  readonly generation: Generation;
  /** As it begins. */
  readonly response: ResponseObject;
  readonly ignored: IgnoredFields;
  readonly reply: FastifyReply;
}

/** `/v1/responses`: a dialect of chat, and the store of what was said. */
@Injectable()
export class ResponsesService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    private readonly conversations: Conversations,
    private readonly native: NativeResponses,
    @Inject(SETTINGS) private readonly settings: Settings,
    @Optional() @Inject(RESPONSE_STORE) private readonly store?: ResponseStore,
  ) {}

  /**
   * @throws DomainError as long as no event was sent; later failures are the last events
   *   of the stream.
   */
  async create(body: JsonRequest, reply: FastifyReply): Promise<void> {
    if (await this.native.serve(body, reply, this.store !== undefined)) return;
    const turn = await this.#turn(parseResponse, body, reply);
    if (turn.request.background && this.store) await this.#answerLater(turn, this.store);
    else
      await (turn.request.stream
        ? this.#answerInEvents(turn)
        : this.#answerAsAWhole(turn));
  }

  /**
   * Counted by the model itself, which draws one token more: only it knows its template
   * and its tokens.
   */
  async countInput(body: JsonRequest, reply: FastifyReply): Promise<void> {
    const turn = await this.#turn(parseInputCount, body, reply);
    const { usage, timings } = await this.#answerOf(turn);
    const input_tokens = usage?.input_tokens ?? 0;
    void reply
      .headers(answerHeaders(turn.model.id, timings, turn.ignored.paths))
      .send({ object: 'response.input_tokens', input_tokens });
  }

  async #turn(
    parse: (
      body: Readonly<Record<string, unknown>>,
      options: ParseOptions,
    ) => ParsedResponse,
    { fields }: JsonRequest,
    reply: FastifyReply,
  ): Promise<Turn> {
    const ignored = new IgnoredFields(this.settings.compat.strict);
    const options = {
      catalog: this.catalog,
      newId,
      stores: this.store !== undefined,
      ignored,
    };
    const parsed = parse(fields, options);
    const { model, tier } = parsed;
    const caller = httpCaller(reply, { tier, model });
    const conversation = await this.conversations.of(caller.tenant, parsed.request);
    const generation = generationOf(parsed.request, conversation.all, this.catalog);
    const serviceTier = usedTier(caller.priority, tier);
    const head = { id: newId('resp'), createdS: nowS(), model: model.id, serviceTier };
    return {
      ...parsed,
      caller,
      conversation,
      generation,
      response: newResponse(parsed.request, head),
      ignored,
      reply,
    };
  }

  async #answerAsAWhole(turn: Turn): Promise<void> {
    const { writer, usage, timings } = await this.#answerOf(turn);
    writer.end(nowS());
    const response = await this.#finish(turn)(writer.response);
    const counted = usage && {
      promptTokens: usage.input_tokens,
      completionTokens: usage.output_tokens,
    };
    void turn.reply
      .headers(
        answerHeaders(
          turn.model.id,
          { ...timings, ...(counted && { usage: counted }) },
          turn.ignored.paths,
        ),
      )
      .send(response);
  }

  async #answerOf({ caller, generation, response }: Turn) {
    try {
      const { reply, timings } = await this.generations
        .start(caller, generation)
        .answer('generation');
      const writer = new ResponseWriter(response);
      for (const piece of piecesOf(reply.answer)) writer.take(piece);
      return { writer, usage: writer.response.usage, timings };
    } catch (error) {
      throw inWordsOfResponses(error);
    }
  }

  /**
   * Until the first event a failure is a normal error. The headers hold only what is
   * known by then.
   */
  async #answerInEvents(turn: Turn): Promise<void> {
    const { caller, generation, response, ignored } = turn;
    const { maxBufferedBytes } = this.settings.generation;
    const output = new ResponseStream(
      maxBufferedBytes,
      new ResponseWriter(response),
      this.#finish(turn),
    );
    const running = this.generations.start(caller, generation, output);
    const first = await running.firstOutput().catch((error: unknown) => {
      throw inWordsOfResponses(error);
    });
    const { phases, firstOutputMs } = first;
    const headers = answerHeaders(
      turn.model.id,
      { phases, ttftMs: firstOutputMs },
      ignored.paths,
    );
    sendEvents(turn.reply, headers, output.chunks);
  }

  async #answerLater(turn: Turn, store: ResponseStore): Promise<void> {
    const { request, response, conversation, caller, reply, ignored } = turn;
    const { reply: _, ...who } = caller;
    const work = {
      request,
      response,
      conversation: conversation.all,
      input: conversation.input,
      caller: who,
    };
    await store.startBackground(work);
    const headers = answerHeaders(turn.model.id, { phases: {} }, ignored.paths);
    if (!request.stream) return void reply.headers(headers).send(response);
    followEvents(reply, headers, signal =>
      store.events(caller.tenant, response.id, -1, signal),
    );
  }

  /** A response is stored before its end is sent. */
  #finish({ request, conversation: { input }, caller }: Turn): FinishResponse {
    return async response => {
      if (!request.store) return response;
      return {
        ...response,
        store: await this.conversations.save(caller.tenant, { response, input }),
      };
    };
  }
}

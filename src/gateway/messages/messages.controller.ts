import { Controller, HttpCode, Inject, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import {
  CreateMessageRequest,
  MessageInputRequest,
} from '../../contracts/messages/message.dto.js';
import { IgnoredFields } from '../../contracts/openai/field-types.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { type HttpCaller, httpCaller } from '../inference/inference.service.js';
import { type Strictness } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { Forecasts } from '../scheduler/forecasts.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { piecesOf } from '../text/generation-pieces.js';
import { inWordsOf } from '../text/param-names.js';
import { parseChat } from '../text/parse-generation.js';
import { TextGenerationService, type TextTurn } from '../text/text-generation.service.js';
import { chatOfMessage, PARAMS_OF_MESSAGE } from './chat-of-message.js';
import { MessageStream, waitFrame } from './message-stream.js';
import { MessageWriter } from './message-writer.js';
import { NativeMessages } from './native-messages.js';
import { DescribesCountTokens, DescribesMessages } from './messages.openapi.js';

type Body = JsonRequest['fields'];

const FIELDS = rulesOf(CreateMessageRequest);

/** @throws DomainError for the first thing wrong with the body of `POST /v1/messages` */
export function parseMessage(body: Body, catalog: ModelCatalog, compat: Strictness) {
  const dto = parseDto(CreateMessageRequest, body);
  const ignored = new IgnoredFields(compat.strict);
  ignored.settle(FIELDS, body);
  const chat = chatOfMessage(dto, body, ignored);
  const parsed = parseChat(chat, catalog, compat);
  return {
    stream: dto.stream,
    ignored: [...ignored.paths, ...parsed.ignored],
    generation: { ...parsed, body: Buffer.from(JSON.stringify(chat)) },
  };
}

/**
 * `/v1/messages`: a dialect of chat. As long as no event was sent a failure is a normal
 * error; later ones are the last event of the stream.
 */
@Controller('v1/messages')
export class MessagesController {
  constructor(
    private readonly generations: TextGenerationService,
    private readonly catalog: ModelCatalog,
    private readonly native: NativeMessages,
    private readonly scheduler: SchedulerService,
    private readonly forecasts: Forecasts,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Post()
  @DescribesMessages()
  async create(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply) {
    if (await this.native.serve(body, reply, wait => this.#notice(wait))) return;
    try {
      const { stream, ...turn } = this.#turn(body.fields, reply);
      const writer = new MessageWriter(`msg_${turn.caller.id}`, turn.generation.model.id);
      if (!stream)
        return void (await this.generations.answer(turn, answer => said(writer, answer)));
      const { maxBufferedBytes } = this.settings.generation;
      const output = new MessageStream(maxBufferedBytes, writer, turn.caller.id);
      await this.generations.stream(turn, output, () => this.#notice(turn.caller));
    } catch (error) {
      throw inWordsOf(PARAMS_OF_MESSAGE, error);
    }
  }

  /** Counted by the model itself, which draws one token more. */
  @Post('count_tokens')
  @HttpCode(200)
  @DescribesCountTokens()
  async count(@JsonBody() { fields }: JsonRequest, @Res() reply: FastifyReply) {
    try {
      parseDto(MessageInputRequest, fields);
      const one = { ...fields, max_tokens: 1, stream: false };
      const { caller, generation, ignored } = this.#turn(one, reply);
      const { reply: answered, timings } = await this.generations
        .start(caller, generation)
        .answer('generation');
      const { usage } = said(new MessageWriter('', ''), answered.answer);
      void reply
        .headers(answerHeaders(generation.model.id, timings, ignored))
        .send({ input_tokens: usage.input_tokens + usage.cache_read_input_tokens });
    } catch (error) {
      throw inWordsOf(PARAMS_OF_MESSAGE, error);
    }
  }

  /** Its place and forecast, for people who watch the stream. */
  async #notice({ tenant, id }: HttpCaller): Promise<string> {
    // Without the shared queue its place is not known.
    const view = await this.scheduler.findAnywhere({ tenant, id }).catch(() => undefined);
    return waitFrame(view, view && this.forecasts.ofView(view));
  }

  #turn(fields: Body, reply: FastifyReply): TextTurn & { readonly stream: boolean } {
    const parsed = parseMessage(fields, this.catalog, this.settings.compat);
    void reply.header('request-id', reply.request.id);
    const caller = httpCaller(reply, { tier: 'auto', model: parsed.generation.model });
    return { caller, ...parsed };
  }
}

function said(writer: MessageWriter, answer: Buffer) {
  for (const piece of piecesOf(answer)) writer.take(piece);
  return writer.message;
}

import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import {
  CreateMessageRequest,
  MessageInputRequest,
} from '../../contracts/messages/message.dto.js';
import { IgnoredFields } from '../../contracts/openai/field-types.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { Settings } from '../../platform/config/settings.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { type HttpCaller, httpCaller } from '../inference/inference.service.js';
import { type Strictness } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { Forecasts } from '../scheduler/forecasts.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { translated } from '../text/chat-body.js';
import { piecesOf, usageAmong } from '../text/generation-pieces.js';
import { NamesFields } from '../text/param-names.js';
import { TextGenerationService, type TextTurn } from '../text/text-generation.service.js';
import { chatOfMessage, PARAMS_OF_MESSAGE } from './chat-of-message.js';
import { MessageWriter, waitFrame } from './message-writer.js';
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
  return { stream: dto.stream, ...translated(chat, ignored, catalog, compat) };
}

/**
 * `/v1/messages`: a dialect of chat. As long as no event was sent a failure is a normal
 * error; later ones are the last event of the stream.
 */
@Controller('v1/messages')
@NamesFields(PARAMS_OF_MESSAGE)
export class MessagesController {
  constructor(
    private readonly generations: TextGenerationService,
    private readonly catalog: ModelCatalog,
    private readonly native: NativeMessages,
    private readonly scheduler: SchedulerService,
    private readonly forecasts: Forecasts,
    private readonly settings: Settings,
  ) {}

  @Post()
  @DescribesMessages()
  async create(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply) {
    if (await this.native.serve(body, reply, wait => this.#notice(wait))) return;
    const { stream, ...turn } = this.#turn(body.fields, reply);
    const { caller, generation } = turn;
    const writer = new MessageWriter(caller.id, generation.model.id);
    await this.generations.say(turn, writer, stream, () => this.#notice(caller));
  }

  /** Counted by the model itself, which draws one token more. */
  @Post('count_tokens')
  @HttpCode(200)
  @DescribesCountTokens()
  async count(@JsonBody() { fields }: JsonRequest, @Res() reply: FastifyReply) {
    parseDto(MessageInputRequest, fields);
    const turn = this.#turn({ ...fields, max_tokens: 1, stream: false }, reply);
    await this.generations.answer(turn, answer => ({
      input_tokens: usageAmong(piecesOf(answer))?.input_tokens ?? 0,
    }));
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

import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply } from 'fastify';
import {
  CreateMessageRequest,
  MessageInputRequest,
} from '../../contracts/messages/message.dto.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
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
import { sseEvent } from '../../contracts/formats/server-sent-event.js';
import { describesText, jsonExample } from '../text/completions.controller.js';
import { NativeMessages } from './native-messages.js';

const EVENTS = {
  type: 'string',
  description:
    'With `stream: true`: `event: …` and `data: {…}` of `message_start`, the blocks with their deltas, `message_delta` ' +
    'with the usage, `message_stop`. A failure after the first event is an event `error`.',
};

const question = [{ role: 'user', content: 'What does a switchyard do?' }];
const input = { model: 'gpt-4o-mini', messages: question };
const SAID = new MessageWriter('1', 'qwen3-8b');
SAID.take({ type: 'text', text: 'It sorts.' });
SAID.take({ type: 'finish', reason: 'stop' });

const exampleOf = (value: object) => ({ usual: { summary: 'A question', value } });

/** OpenAPI of the route of messages. */
const DescribesMessages = (): MethodDecorator =>
  describesText({
    body: CreateMessageRequest,
    description:
      'Another dialect of chat, as `@anthropic-ai/sdk` and Claude Code speak it. `x-api-key` is a key of this ' +
      'gateway; versions and beta headers are ignored. Errors have the envelope of that dialect.',
    examples: exampleOf({ ...input, max_tokens: 64 }),
    content: {
      ...jsonExample(SAID.whole()),
      'text/event-stream': {
        schema: EVENTS,
        example: sseEvent('message_stop', { type: 'message_stop' }),
      },
    },
  });

const DescribesCountTokens = (): MethodDecorator =>
  describesText({
    body: MessageInputRequest,
    description: 'Counted by the model, which draws one token for it.',
    examples: exampleOf(input),
    content: jsonExample({ input_tokens: 14 }),
  });

const FIELDS = rulesOf(CreateMessageRequest);

/** @throws DomainError for the first thing wrong with the body of `POST /v1/messages` */
export function parseMessage(body: Fields, catalog: ModelCatalog, compat: Strictness) {
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

  #turn(fields: Fields, reply: FastifyReply): TextTurn & { readonly stream: boolean } {
    const parsed = parseMessage(fields, this.catalog, this.settings.compat);
    void reply.header('request-id', reply.request.id);
    const caller = httpCaller(reply, { tier: 'auto', model: parsed.generation.model });
    return { caller, ...parsed };
  }
}

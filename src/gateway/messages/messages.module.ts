import { Module, Controller, HttpCode, Post, Res, Injectable } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { TextModule } from '../text/text.module.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
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
import { sseEvent, onOneLine } from '../../contracts/formats/server-sent-event.js';
import { withInnerFields, withJsonFields } from '../../contracts/formats/json-fields.js';
import { messageError } from '../../contracts/messages/message-error.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { type OutputForm } from '../inference/output-stream.js';
import { beginningOfChat } from '../text/parse-generation.js';
import { describesText, jsonExample } from '../text/completions.controller.js';

/** The events of another server, byte by byte but for the name of the model. */
class NativeEvents implements OutputForm {
  constructor(
    private readonly model: string,
    private readonly requestId: string,
  ) {}

  format(json: Buffer): string {
    const { type } = JSON.parse(json.toString('utf8')) as { readonly type: string };
    const isStart = type === 'message_start';
    const { model } = this;
    return sseEvent(
      type,
      onOneLine(isStart ? withInnerFields(json, 'message', { model }) : json),
    );
  }

  lastFrame(failure: DomainError | undefined): string | undefined {
    return failure && sseEvent('error', messageError(failure, this.requestId));
  }
}

/**
 * Requests that a server behind a model answers by itself, by the capability `messages`:
 * they go there as they came but for `model`, fields that are unknown here included.
 */
@Injectable()
class NativeMessages {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
  ) {}

  /**
   * @returns false: it is not such a request, and nothing was done
   * @throws DomainError as long as nothing was sent
   */
  async serve(
    { fields, bytes: body }: JsonRequest,
    reply: FastifyReply,
    notice: (caller: HttpCaller) => Promise<string>,
  ): Promise<boolean> {
    const model = this.catalog.answering(fields.model, 'messages');
    if (!model) return false;
    const dto = parseDto(CreateMessageRequest, fields);
    const caller = httpCaller(reply, { tier: 'auto', model });
    void reply.header('request-id', caller.id);
    const task = { form: 'message', maxTokens: dto.max_tokens, n: 1 } as const;
    const { system: content, messages } = dto;
    const beginning = beginningOfChat([{ role: 'system', content }, ...messages]);
    const turn = { caller, generation: { model, task, beginning, body }, ignored: [] };
    const events = new NativeEvents(model.id, caller.id);
    if (dto.stream) await this.generations.stream(turn, events, () => notice(caller));
    else
      await this.generations.answer(turn, answer =>
        withJsonFields(answer, { model: model.id }),
      );
    return true;
  }
}

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
class MessagesController {
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

/** `/v1/messages`, a dialect of chat. */
@Module({
  imports: [ModelsModule, SchedulerModule, TextModule],
  controllers: [MessagesController],
  providers: [NativeMessages],
})
export class MessagesModule {}

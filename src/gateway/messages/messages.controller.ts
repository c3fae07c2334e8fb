import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import { fieldsIn } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply } from 'fastify';
import { sseEvent } from '../../contracts/formats/server-sent-event.js';
import { CreateMessageRequest, MessageInputRequest } from '../../contracts/messages/message.dto.js';
import { Settings } from '../../platform/config/settings.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { type HttpCaller, httpCaller } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { describesText, jsonExample } from '../text/completions.controller.js';
import { piecesOf, usageAmong } from '../text/generation-pieces.js';
import { NamesFields } from '../text/param-names.js';
import {
  dialectAnswer,
  TextGenerationService,
  type TextTurn,
} from '../text/text-generation.service.js';
import { MessageWriter, waitFrame } from './message-writer.js';
import { nativeEvents, nativeMessage } from './native-messages.js';
import { PARAMS_OF_MESSAGE, parseMessage } from './parse-message.js';

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
    private readonly scheduler: SchedulerService,
    private readonly settings: Settings,
  ) {}

  @Post()
  @DescribesMessages()
  async create(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply) {
    const { catalog, generations } = this;
    const { compat } = this.settings;
    const native = catalog.answering(body.fields.model, 'messages');
    const work = native
      ? nativeMessage(native, body, compat)
      : parseMessage(body.fields, catalog, compat);
    const { id: model } = work.generation.model;
    const turn = turnOf(work, reply);
    const { caller } = turn;
    const form = native
      ? nativeEvents(model, caller.id)
      : dialectAnswer(
          new MessageWriter(caller.id, model, fieldsIn(body.fields.thinking).type !== 'disabled'),
        );
    await generations.say(turn, form, work.stream, () => this.#notice(caller));
  }

  /** Counted by the model itself, which draws one token more. */
  @Post('count_tokens')
  @HttpCode(200)
  @DescribesCountTokens()
  async count(@JsonBody() { fields }: JsonRequest, @Res() reply: FastifyReply) {
    parseDto(MessageInputRequest, fields);
    const asked = { ...fields, max_tokens: 1, stream: false };
    const work = parseMessage(asked, this.catalog, this.settings.compat);
    await this.generations.answer(turnOf(work, reply), answer => ({
      input_tokens: usageAmong(piecesOf(answer))?.input_tokens ?? 0,
    }));
  }

  /** Its place and forecast, for people who watch the stream. */
  async #notice({ tenant, id }: HttpCaller): Promise<string> {
    // Without the shared queue its place is not known.
    const told = await this.scheduler.waitOf({ tenant, id }).catch(() => undefined);
    return waitFrame(told?.view, told?.forecast);
  }
}

function turnOf({ generation, ignored }: Omit<TextTurn, 'caller'>, reply: FastifyReply): TextTurn {
  void reply.header('request-id', reply.request.id);
  const caller = httpCaller(reply, { tier: 'auto', model: generation.model });
  return { caller, generation, ignored };
}

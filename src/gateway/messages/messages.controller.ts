import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import { fieldsIn } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply } from 'fastify';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { type HttpCaller, httpCaller } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { piecesOf, usageAmong } from '../text/generation-pieces.js';
import { NamesFields } from '../text/param-names.js';
import {
  dialectAnswer,
  TextGenerationService,
  type TextTurn,
} from '../text/text-generation.service.js';
import { MessageWriter, waitFrame } from './message-writer.js';
import { DescribesMessages, DescribesCountTokens } from './messages.openapi.js';
import { nativeEvents, nativeMessage } from './native-messages.js';
import { PARAMS_OF_MESSAGE, parseMessage, parseMessageCount } from './parse-message.js';

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
    const { generations } = this;
    const catalog = this.catalog.usableBy(principalOf(reply.request));
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
    const work = parseMessageCount(
      fields,
      this.catalog.usableBy(principalOf(reply.request)),
      this.settings.compat,
    );
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

import { Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { CreateMessageRequest } from '../../contracts/messages/message.dto.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { type HttpCaller, httpCaller } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { TextGenerationService } from '../text/text-generation.service.js';
import { sseEvent, onOneLine } from '../../contracts/formats/server-sent-event.js';
import { withInnerFields, withJsonFields } from '../../contracts/formats/json-fields.js';
import { messageError } from '../../contracts/messages/message-error.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { type OutputForm } from '../inference/output-stream.js';
import { beginningOfChat } from '../text/parse-generation.js';

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
export class NativeMessages {
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

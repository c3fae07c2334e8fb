import { ANSWER_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { withInnerFields, withJsonFields } from '../../contracts/formats/json-fields.js';
import { onOneLine, sseEvent } from '../../contracts/formats/server-sent-event.js';
import { messageError } from '../../contracts/messages/message-error.js';
import { CreateMessageRequest } from '../../contracts/messages/message.dto.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { parseDto } from '../http/dto-validation.js';
import { type JsonRequest } from '../http/json-body.js';
import { type Strictness } from '../models/model-abilities.js';
import { beginningOfChat } from '../text/parse-generation.js';
import { type AnswerForm } from '../text/text-generation.service.js';

/**
 * A request that a server behind a model answers by itself, by the capability `messages`:
 * it goes there as it came but for `model`, fields that are unknown here included.
 * @throws DomainError for the first thing wrong with the body
 */
export function nativeMessage(
  model: ModelSpec,
  { fields, bytes: body }: JsonRequest,
  { strict }: Strictness,
) {
  const dto = parseDto(CreateMessageRequest, fields);
  const { stream, max_tokens: maxTokens, system: content, messages } = dto;
  const task = { form: 'message', maxTokens, n: 1 } as const;
  const beginning = beginningOfChat([{ role: 'system', content }, ...messages]);
  const ignored = new IgnoredFields(strict);
  ignored.priority(fields);
  return { stream, ignored: ignored.paths, generation: { model, task, beginning, body } };
}

/** The events of another server, byte by byte but for the name of the model. */
export const nativeEvents = (model: string, requestId: string): AnswerForm => ({
  format(json) {
    const { type } = parseBoundedJson(json.toString('utf8'), ANSWER_BOUNDS) as {
      readonly type: string;
    };
    const isStart = type === 'message_start';
    return sseEvent(type, onOneLine(isStart ? withInnerFields(json, 'message', { model }) : json));
  },
  lastFrame: failure => failure && sseEvent('error', messageError(failure, requestId)),
  whole: answer => withJsonFields(answer, { model }),
});

import { type ResponseItem } from '../../contracts/openai/response-items.js';
import { type ResponseRequest } from '../../contracts/openai/responses.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { parseChat } from '../text/parse-generation.js';
import { type Generation } from '../text/text-generation.service.js';
import { chatOfResponse, paramOfResponse } from './chat-of-response.js';

/**
 * The work of a response.
 * @param conversation all of it, the input of the request at its end
 * @throws DomainError for what the model cannot honour
 */
export function generationOf(
  request: ResponseRequest,
  conversation: readonly ResponseItem[],
  catalog: ModelCatalog,
): Generation {
  demandCalls(conversation);
  const chat = chatOfResponse(request, conversation);
  return { ...parseChat(chat, catalog), body: Buffer.from(JSON.stringify(chat)) };
}

/**
 * @throws DomainError `invalid_value` for the output of a call that was not
 *   made before it
 */
function demandCalls(conversation: readonly ResponseItem[]): void {
  const called = new Set<string>();
  for (const item of conversation) {
    if (!('call_id' in item)) continue;
    if (!('output' in item)) called.add(item.call_id);
    if (called.has(item.call_id)) continue;
    const message = `No tool call found for function call output with call_id ${item.call_id}.`;
    throw new DomainError('invalid_value', message, { param: 'input' });
  }
}

/**
 * Chat is what engines know: what they say of its fields is said of those that
 * the caller sent.
 */
export function inWordsOfResponses(error: unknown): unknown {
  if (!(error instanceof DomainError) || error.param === undefined) return error;
  const param = paramOfResponse(error.param);
  if (param === error.param) return error;
  const { code, message, foreignCode, retryAfterMs } = error;
  const details = {
    param,
    foreignCode,
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  return new DomainError(
    code,
    message.replaceAll(`\`${error.param}\``, `\`${param}\``),
    details,
  );
}

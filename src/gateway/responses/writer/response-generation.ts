import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { errorEnvelope } from '../../../contracts/openai/error-envelope.js';
import {
  callableTools,
  argumentsOf,
  functionInChat,
  nameInChat,
  usableTools,
} from '../../../contracts/openai/read-tools.js';
import { type ResponseItem, type MessageItem } from '../../../contracts/openai/response-items.js';
import {
  type ResponseEventBody,
  type ResponseRequest,
} from '../../../contracts/openai/responses.js';
import { samplingIn } from '../../../contracts/openai/sampling.js';
import { type DomainError } from '../../../core/errors/domain-error.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { callOf, given, imagePart, streamed } from '../../text/chat-body.js';
import { inWordsOf, type ParamNames } from '../../text/param-names.js';
import { type Generation, parseChat } from '../../text/parse-generation.js';

/**
 * A response as a chat, which is the one form of a conversation that engines know (D-30).
 * @param conversation all of it, the input of the request at its end
 */
function chatOfResponse(request: ResponseRequest, conversation: readonly ResponseItem[]): Fields {
  return {
    model: request.model,
    messages: messagesOf(request.instructions, conversation),
    ...samplingIn(request),
    ...given({
      max_completion_tokens: request.max_output_tokens,
      reasoning_effort: request.reasoning?.effort,
      verbosity: request.text.verbosity,
    }),
    ...toolFields(request),
    ...formatFields(request),
    ...(wantsLogprobs(request) && {
      logprobs: true,
      top_logprobs: request.top_logprobs,
    }),
    ...streamed(request.stream),
  };
}

/** Names of the fields of a chat, as a caller of Responses knows them. */
export const PARAMS_OF_RESPONSE: ParamNames = [
  [/^messages\b.*/, 'input'],
  [/^max_(completion_)?tokens$/, 'max_output_tokens'],
  [/^(top_)?logprobs$/, 'top_logprobs'],
  [/^response_format(\.json_schema)?\b/, 'text.format'],
  [/^(tools\[\d+\])\.function\b/, '$1'],
];

const wantsLogprobs = ({ include, top_logprobs }: ResponseRequest): boolean =>
  top_logprobs > 0 || include.includes('message.output_text.logprobs');

function toolFields({ tools, tool_choice, parallel_tool_calls }: ResponseRequest): Fields {
  const { usable, choice } = usableTools(callableTools(tools), tool_choice);
  if (usable.length === 0) return {};
  return {
    tools: usable.map(functionInChat),
    tool_choice:
      typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } },
    parallel_tool_calls,
  };
}

function formatFields({ text: { format } }: ResponseRequest): Fields {
  if (format.type === 'text') return {};
  if (format.type === 'json_object') return { response_format: format };
  const { type, ...schema } = format;
  return { response_format: { type, json_schema: given(schema) } };
}

/** What a model thought, said and called in a row is one message of a chat. */
function messagesOf(
  instructions: string | null,
  conversation: readonly ResponseItem[],
): readonly Fields[] {
  const messages: ChatMessage[] = [];
  if (instructions !== null) messages.push({ role: 'system', content: instructions });
  let reasoning = '';
  for (const item of conversation) {
    if (item.type === 'reasoning') {
      reasoning += reasoningIn(item);
      continue;
    }
    const message = messageOf(item, reasoning);
    const last = messages.at(-1);
    if (message.tool_calls && last?.role === 'assistant')
      (last.tool_calls ??= []).push(...message.tool_calls);
    else {
      messages.push(message);
      reasoning = '';
    }
  }
  return messages;
}

type ChatMessage = Fields & { tool_calls?: Fields[] };

/** @param reasoning before it */
function messageOf(
  item: Exclude<ResponseItem, { type: 'reasoning' }>,
  reasoning: string,
): ChatMessage {
  const answer = (content: unknown) => ({
    role: 'assistant',
    content,
    ...(reasoning && { reasoning_content: reasoning }),
  });
  if (item.type === 'message') {
    const content = contentOf(item.content);
    return item.role === 'assistant' ? answer(content) : { role: item.role, content };
  }
  if ('output' in item) {
    const { call_id: tool_call_id, output } = item;
    const content = typeof output === 'string' ? output : contentOf(output);
    return { role: 'tool', tool_call_id, content };
  }
  const json = item.type === 'function_call' ? item.arguments : argumentsOf(item.input);
  return { ...answer(null), tool_calls: [callOf(item.call_id, nameInChat(item), json)] };
}

const reasoningIn = ({ content, summary }: Extract<ResponseItem, { type: 'reasoning' }>): string =>
  (content.length > 0 ? content : summary).map(({ text }) => text).join('\n');

/** Text alone is a string: every template knows that. */
function contentOf(parts: MessageItem['content']): unknown {
  if (parts.every(part => 'text' in part)) return parts.map(({ text }) => text).join('');
  return parts.map(part => {
    if (part.type === 'refusal') return part;
    if (part.type !== 'input_image') return { type: 'text', text: part.text };
    return imagePart(part.image_url, part.detail);
  });
}

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
  return parseChat(chatOfResponse(request, conversation), catalog).generation;
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
    throw invalidField('input', message);
  }
}

/** Why a response failed, in the words of its caller. */
export function failureOf(
  error: DomainError,
): Extract<ResponseEventBody, { type: 'error' }>['error'] {
  const said = inWordsOf(PARAMS_OF_RESPONSE, error) as DomainError;
  const { type, code, message, param } = errorEnvelope(said).error;
  return { type, code: code ?? error.code, message, param };
}

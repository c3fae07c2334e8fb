import { invalidField } from '../../contracts/schema/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import {
  type ResponseItem,
  type MessageItem,
} from '../../contracts/openai/response-items.js';
import {
  type ResponseEventBody,
  type ResponseRequest,
} from '../../contracts/openai/responses.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { parseChat } from '../text/parse-generation.js';
import { callOf, given, imagePart, streamed } from '../text/chat-body.js';
import { inWordsOf, type ParamNames, renamed } from '../text/param-names.js';
import { type Generation } from '../text/text-generation.service.js';
import { samplingIn } from '../../contracts/openai/generation.dto.js';
import {
  callableTools,
  argumentsOf,
  functionInChat,
  nameInChat,
  usableTools,
} from '../../contracts/openai/read-tools.js';

/**
 * A response as a chat, which is the one form of a conversation that engines know (D-30).
 * @param conversation all of it, the input of the request at its end
 */
export function chatOfResponse(
  request: ResponseRequest,
  conversation: readonly ResponseItem[],
): Fields {
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
    ...(wantsLogprobs(request) && { logprobs: true, top_logprobs: request.top_logprobs }),
    ...streamed(request.stream),
  };
}

/** Names of the fields of a chat, as a caller of Responses knows them. */
export const paramOfResponse = (param: string): string =>
  renamed(PARAMS_OF_RESPONSE, param);

export const PARAMS_OF_RESPONSE: ParamNames = [
  [/^messages\b.*/, 'input'],
  [/^max_(completion_)?tokens$/, 'max_output_tokens'],
  [/^(top_)?logprobs$/, 'top_logprobs'],
  [/^response_format(\.json_schema)?\b/, 'text.format'],
  [/^(tools\[\d+\])\.function\b/, '$1'],
];

const wantsLogprobs = ({ include, top_logprobs }: ResponseRequest): boolean =>
  top_logprobs > 0 || include.includes('message.output_text.logprobs');

function toolFields({
  tools,
  tool_choice,
  parallel_tool_calls,
}: ResponseRequest): Fields {
  const { usable, choice } = usableTools(callableTools(tools), tool_choice);
  if (usable.length === 0) return {};
  return {
    tools: usable.map(functionInChat),
    tool_choice:
      typeof choice === 'string'
        ? choice
        : { type: 'function', function: { name: choice.name } },
    parallel_tool_calls,
  };
}

function formatFields({ text: { format } }: ResponseRequest): Fields {
  if (format.type === 'text') return {};
  if (format.type === 'json_object') return { response_format: format };
  const { type, ...schema } = format;
  return { response_format: { type, json_schema: given(schema) } };
}

function messagesOf(
  instructions: string | null,
  conversation: readonly ResponseItem[],
): readonly Fields[] {
  const messages = new ChatMessages();
  if (instructions !== null) messages.add({ role: 'system', content: instructions });
  for (const item of conversation) messages.take(item);
  return messages.all;
}

interface Answer {
  role: 'assistant';
  content: unknown;
  reasoning_content?: string;
  tool_calls?: Fields[];
}

/** Reasoning, text and calls that follow one another are one message of a chat. */
class ChatMessages {
  readonly all: Fields[] = [];
  /** The last message, while it can still get calls. */
  #answer: Answer | undefined;
  #reasoning = '';

  add(message: Fields): void {
    this.all.push(message);
    this.#answer = undefined;
    this.#reasoning = '';
  }

  take(item: ResponseItem): void {
    if (item.type === 'reasoning') this.#reasoning += reasoningIn(item);
    else if (item.type === 'message') this.#message(item);
    else if ('output' in item) {
      const { call_id: tool_call_id, output } = item;
      this.add({
        role: 'tool',
        tool_call_id,
        content: typeof output === 'string' ? output : contentOf(output),
      });
    } else this.#call(item);
  }

  #message({ role, content }: MessageItem): void {
    if (role === 'assistant') this.#begin(contentOf(content));
    else this.add({ role, content: contentOf(content) });
  }

  #call(
    call: Extract<ResponseItem, { type: 'function_call' | 'custom_tool_call' }>,
  ): void {
    const answer = this.#answer ?? this.#begin(null);
    const json = call.type === 'function_call' ? call.arguments : argumentsOf(call.input);
    answer.tool_calls ??= [];
    answer.tool_calls.push(callOf(call.call_id, nameInChat(call), json));
  }

  #begin(content: unknown): Answer {
    const reasoning = this.#reasoning;
    const answer: Answer = {
      role: 'assistant',
      content,
      ...(reasoning && { reasoning_content: reasoning }),
    };
    this.add(answer as unknown as Fields);
    this.#answer = answer;
    return answer;
  }
}

const reasoningIn = ({
  content,
  summary,
}: Extract<ResponseItem, { type: 'reasoning' }>): string =>
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
  const chat = chatOfResponse(request, conversation);
  const { model, task, beginning } = parseChat(chat, catalog);
  return { model, task, beginning, body: Buffer.from(JSON.stringify(chat)) };
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

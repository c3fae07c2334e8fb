import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { wrongField } from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type CustomTool, type MessageBlock } from '../../contracts/messages/message-fields.js';
import { CreateMessageRequest, MessageInputRequest } from '../../contracts/messages/message.dto.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { parseDto, readDto } from '../http/dto-validation.js';
import { type Strictness } from '../models/model-abilities.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import {
  callOf,
  given,
  imagePart,
  reportUnreachable,
  streamed,
  thinking,
  translated,
} from '../text/chat-body.js';
import { type ParamNames } from '../text/param-names.js';

const FIELDS = rulesOf(CreateMessageRequest);

/** @throws DomainError for the first thing wrong with the body of `POST /v1/messages` */
export function parseMessage(body: Fields, catalog: ModelCatalog, compat: Strictness) {
  const dto = readDto(CreateMessageRequest, body);
  const ignored = new IgnoredFields(compat.strict);
  ignored.settleAll(FIELDS, body);
  reportParts(dto, ignored);
  const most = { name: 'max_tokens', value: dto.max_tokens };
  reportUnreachable(catalog.getOfKind(dto.model, 'llm'), most, ignored);
  return { stream: dto.stream, ...translated(chatOf(dto), ignored, catalog, compat) };
}

/**
 * As a message of one token.
 * @throws DomainError for the first thing wrong with the body of `POST /v1/messages/count_tokens`
 */
export function parseMessageCount(body: Fields, catalog: ModelCatalog, compat: Strictness) {
  parseDto(MessageInputRequest, body);
  return parseMessage({ ...body, max_tokens: 1, stream: false }, catalog, compat);
}

/** A message as a chat, which is the one form of a conversation that engines know (D-30). */
function chatOf(message: CreateMessageRequest): Fields {
  const { thinking: thoughts, metadata } = message;
  const tools = message.tools.flatMap(tool => (tool.type === 'custom' ? [functionOf(tool)] : []));
  return given({
    model: message.model,
    messages: messagesOf(message),
    max_completion_tokens: message.max_tokens,
    temperature: message.temperature,
    top_p: message.top_p,
    top_k: message.top_k,
    stop: message.stop_sequences,
    user: metadata?.user_id,
    ...(thoughts && thoughts.type !== 'adaptive' && thinking(thoughts.type === 'enabled')),
    ...(tools.length > 0 && { tools }),
    ...choiceOf(message, tools.length > 0),
    ...formatOf(message),
    ...streamed(message.stream),
  });
}

/** Fields of a chat, as a caller of Messages knows them. */
export const PARAMS_OF_MESSAGE: ParamNames = [
  [/^max_(completion_)?tokens$/, 'max_tokens'],
  [/^stop\b/, 'stop_sequences'],
  [/^response_format\b(\.json_schema)?/, 'output_config.format'],
  [/^(tools\[\d+\])\.function\.parameters\b/, '$1.input_schema'],
  [/^(tools\[\d+\])\.function\b/, '$1'],
  [/^chat_template_kwargs\b.*/, 'thinking'],
];

/** The form of the answer, in the chat's words. */
const formatOf = ({ output_config, output_format }: CreateMessageRequest): Fields => {
  const format = output_config?.format ?? output_format;
  const { type, schema } = format ?? {};
  return { response_format: format && { type, json_schema: { name: 'format', schema } } };
};

/** Blocks that no model reads, tools that are not served, and marks for a cache are left out. */
function reportParts({ messages, system, tools }: CreateMessageRequest, ignored: IgnoredFields) {
  for (const [at, { content }] of messages.entries())
    reportBlocks(content, `messages[${at}].content`, ignored);
  reportBlocks(system, 'system', ignored);
  for (const [at, tool] of tools.entries()) {
    const path = `tools[${at}]`;
    reportMark(tool, path, ignored);
    if (tool.type === 'other') ignored.ignore(path, `tools of type ${tool.was} are not served`);
  }
}

function reportBlocks(
  blocks: string | readonly MessageBlock[],
  path: string,
  ignored: IgnoredFields,
) {
  if (typeof blocks === 'string') return;
  for (const [at, block] of blocks.entries()) {
    const place = `${path}[${at}]`;
    reportMark(block, place, ignored);
    if (block.type === 'tool_result') reportBlocks(block.content, `${place}.content`, ignored);
    if (block.type === 'unread')
      ignored.ignore(place, `blocks of type ${block.was} are not read here`);
  }
}

const reportMark = (part: { cache_control?: unknown }, path: string, ignored: IgnoredFields) =>
  ignored.advised(`${path}.cache_control`, part.cache_control, FIELDS.cache_control!.why);

const functionOf = ({ name, description, input_schema: parameters }: CustomTool): Fields => ({
  type: 'function',
  function: given({ name, description, parameters }),
});

/** @throws DomainError for a demand that nothing is left to meet */
function choiceOf({ tool_choice: choice }: CreateMessageRequest, hasTools: boolean): Fields {
  if (choice === undefined) return {};
  const { type } = choice;
  if (!hasTools) {
    if (type === 'auto' || type === 'none') return {};
    throw wrongField('tool_choice', choice, 'needs at least one of `tools` that is served here');
  }
  const tool_choice =
    type === 'tool'
      ? { type: 'function', function: { name: choice.name } }
      : type === 'any'
        ? 'required'
        : type;
  const isSingle = type !== 'none' && choice.disable_parallel_tool_use;
  return { tool_choice, ...(isSingle && { parallel_tool_calls: false }) };
}

function messagesOf({ system, messages }: CreateMessageRequest): readonly Fields[] {
  const instructions = typeof system === 'string' ? system : textOf(system);
  return [
    ...(instructions === '' ? [] : [{ role: 'system', content: instructions }]),
    ...messages.flatMap(({ role, content }): readonly Fields[] => {
      if (typeof content === 'string') return [{ role, content }];
      if (role === 'system') return [{ role, content: contentOf(content) }];
      return role === 'user' ? asked(content) : [answered(content)];
    }),
  ];
}

const textOf = (blocks: readonly { readonly text: string }[]): string =>
  blocks.map(({ text }) => text).join('\n');

/** Results of tools are messages of their own, and answer the calls before them. */
function asked(blocks: readonly MessageBlock[]): readonly Fields[] {
  const results = blocks.flatMap(block =>
    block.type === 'tool_result'
      ? [{ role: 'tool', tool_call_id: block.tool_use_id, content: resultOf(block) }]
      : [],
  );
  const content = contentOf(blocks);
  return content.length > 0 || results.length === 0
    ? [...results, { role: 'user', content }]
    : results;
}

function resultOf({
  content,
  is_error: isError,
}: Extract<MessageBlock, { type: 'tool_result' }>): unknown {
  const said = typeof content === 'string' ? content : contentOf(content);
  if (!isError) return said;
  const mark = { type: 'text', text: 'Error: ' };
  return typeof said === 'string' ? mark.text + said : [mark, ...said];
}

/** Text alone is a string: every template knows that. */
function contentOf(blocks: readonly MessageBlock[]): string | readonly Fields[] {
  const parts = blocks.filter(part => part.type === 'text' || part.type === 'image');
  if (parts.every(part => part.type === 'text')) return textOf(parts);
  return parts.map(part => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const { source } = part;
    return imagePart(
      source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`,
    );
  });
}

function answered(blocks: readonly MessageBlock[]): Fields {
  const calls = blocks.flatMap(block =>
    block.type === 'tool_use' ? [callOf(block.id, block.name, writeJson(block.input))] : [],
  );
  const thoughts = blocks.flatMap(block => (block.type === 'thinking' ? [block.thinking] : []));
  const content = contentOf(blocks);
  return {
    role: 'assistant',
    content: content.length === 0 && calls.length > 0 ? null : content,
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields, fieldsIn, isObject } from '@switchyard/engine-api/is-object.js';
import { z } from 'zod';
import { CreateMessageRequest } from '../../contracts/messages/message.dto.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { TOOL_NAME } from '../../contracts/openai/read-tools.js';
import { readObject, wrongField } from '../../contracts/schema/field-problems.js';
import {
  ANY_TEXT,
  defaulted,
  filled,
  FLAG,
  OBJECT,
  objectsUpTo,
  oneOf,
  optional,
  textOr,
  textUpTo,
} from '../../contracts/schema/rules.js';
import { parseDto } from '../http/dto-validation.js';
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

const MOST_BLOCKS = 10_000;
const MOST_TOOLS = 1024;

const block = <const T extends string, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.object({ type: z.literal(type), ...fields });

const TEXT = block('text', { text: ANY_TEXT });

const IMAGE = block('image', {
  source: z.discriminatedUnion(
    'type',
    [block('base64', { media_type: filled(100), data: filled() }), block('url', { url: filled() })],
    'must be base64 or url',
  ),
});

const NOTHING = block('redacted_thinking', {});

const SAID_OF_BLOCKS =
  'must be one of text, image, tool_use, tool_result, thinking, redacted_thinking';

const BLOCK = z.discriminatedUnion(
  'type',
  [
    TEXT,
    IMAGE,
    block('tool_use', { id: filled(), name: TOOL_NAME, input: OBJECT }),
    block('tool_result', {
      tool_use_id: filled(),
      content: defaulted(
        textOr(
          objectsUpTo(
            MOST_BLOCKS,
            z.discriminatedUnion('type', [TEXT, IMAGE, NOTHING], 'must be one of text, image'),
          ),
        ),
        '',
      ),
      is_error: defaulted(FLAG, false),
    }),
    block('thinking', { thinking: ANY_TEXT }),
    NOTHING,
  ],
  SAID_OF_BLOCKS,
);

const MESSAGE = z.object(
  {
    /** `system`: agents add instructions within a conversation. */
    role: oneOf(['user', 'assistant', 'system']),
    content: textOr(objectsUpTo(MOST_BLOCKS, BLOCK)),
  },
  'must be an object',
);

/** What the answer is held to. */
const FORMAT = optional(
  z.object({ type: oneOf(['json_schema']), schema: OBJECT }, 'must be an object'),
);

const PARALLEL = { disable_parallel_tool_use: defaulted(FLAG, false) };

/** What the fields of a message hold, beside single values. */
const MESSAGE_OBJECTS = z.object({
  messages: objectsUpTo(MOST_BLOCKS, MESSAGE).min(1, 'must hold at least one message'),
  system: defaulted(textOr(objectsUpTo(MOST_BLOCKS, TEXT)), ''),
  tool_choice: optional(
    z.discriminatedUnion(
      'type',
      [
        block('auto', PARALLEL),
        block('any', PARALLEL),
        block('none', {}),
        block('tool', { name: TOOL_NAME, ...PARALLEL }),
      ],
      'must be one of auto, any, none, tool',
    ),
  ),
  thinking: optional(
    z.discriminatedUnion(
      'type',
      [block('enabled', {}), block('disabled', {}), block('adaptive', {})],
      'must be one of enabled, disabled, adaptive',
    ),
  ),
  output_config: optional(z.object({ format: FORMAT }, 'must be an object')),
  output_format: FORMAT,
  metadata: optional(z.object({ user_id: optional(textUpTo(512)) }, 'must be an object')),
});

/** A tool that the caller runs. */
const MESSAGE_TOOL = z.object(
  { name: TOOL_NAME, description: optional(ANY_TEXT), input_schema: OBJECT },
  'must be an object',
);

/** Tools with another type are run, or defined, by Anthropic. */
const MESSAGE_TOOLS = objectsUpTo(
  MOST_TOOLS,
  z.looseObject({ type: defaulted(textUpTo(64), 'custom') }, 'must be an object'),
);

type MessageObjects = z.output<typeof MESSAGE_OBJECTS>;
type MessageBlock = z.output<typeof BLOCK>;

const FIELDS = rulesOf(CreateMessageRequest);

/** @throws DomainError for the first thing wrong with the body of `POST /v1/messages` */
export function parseMessage(body: Fields, catalog: ModelCatalog, compat: Strictness) {
  const dto = parseDto(CreateMessageRequest, body);
  const ignored = new IgnoredFields(compat.strict);
  const chat = chatOfMessage(dto, ignored.known(FIELDS, body), ignored);
  const most = { name: 'max_tokens', value: dto.max_tokens };
  reportUnreachable(catalog.getOfKind(dto.model, 'llm'), most, ignored);
  return { stream: dto.stream, ...translated(chat, ignored, catalog, compat) };
}

/**
 * A message as a chat, which is the one form of a conversation that engines know (D-30).
 * @throws DomainError for the first thing wrong with the body
 */
function chatOfMessage(dto: CreateMessageRequest, body: Fields, ignored: IgnoredFields): Fields {
  const messages = readableMessages(body.messages, ignored);
  const objects = readObject(MESSAGE_OBJECTS, { ...body, messages });
  if (Array.isArray(body.system))
    for (const [at, block] of body.system.entries())
      reportCacheMark(block, `system[${at}]`, ignored);
  const tools = toolsIn(body.tools ?? [], ignored);
  const { thinking: thoughts, metadata } = objects;
  return given({
    model: dto.model,
    messages: messagesOf(objects),
    max_completion_tokens: dto.max_tokens,
    temperature: dto.temperature,
    top_p: dto.top_p,
    top_k: dto.top_k,
    stop: dto.stop_sequences,
    user: metadata?.user_id,
    ...(thoughts && thoughts.type !== 'adaptive' && thinking(thoughts.type === 'enabled')),
    ...(tools.length > 0 && { tools }),
    ...choiceOf(objects, tools.length > 0),
    ...formatOf(objects),
    ...streamed(dto.stream),
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
const formatOf = ({ output_config, output_format }: MessageObjects): Fields => {
  const format = output_config?.format ?? output_format;
  const { type, schema } = format ?? {};
  return { response_format: format && { type, json_schema: { name: 'format', schema } } };
};

const READ_BLOCKS: readonly unknown[] = BLOCK.options.map(({ shape }) => shape.type.value);
const UNREAD = { type: 'redacted_thinking' };

/**
 * Blocks that no model reads are left out, with notice. Another that says nothing takes
 * their place, so that paths of errors stay true.
 */
function readableMessages(messages: unknown, ignored: IgnoredFields): unknown {
  if (!Array.isArray(messages)) return messages;
  return messages.map((message: unknown, at) =>
    withReadable(message, `messages[${at}].content`, ignored),
  );
}

function withReadable(holder: unknown, path: string, ignored: IgnoredFields): unknown {
  if (!isObject(holder) || !Array.isArray(holder.content)) return holder;
  const content = holder.content.map((block: unknown, at) => {
    const { type } = fieldsIn(block);
    reportCacheMark(block, `${path}[${at}]`, ignored);
    if (type === 'tool_result') return withReadable(block, `${path}[${at}].content`, ignored);
    if (typeof type !== 'string' || READ_BLOCKS.includes(type)) return block;
    ignored.ignore(`${path}[${at}]`, `blocks of type ${type} are not read here`);
    return UNREAD;
  });
  return { ...holder, content };
}

function reportCacheMark(holder: unknown, path: string, ignored: IgnoredFields): void {
  const { cache_control: mark } = fieldsIn(holder);
  ignored.advised(`${path}.cache_control`, mark, FIELDS.cache_control!.why);
}

/** Functions of a chat. */
function toolsIn(list: unknown, ignored: IgnoredFields): readonly Fields[] {
  return [...readObject(MESSAGE_TOOLS, list, 'tools').entries()].flatMap(([at, tool]) => {
    const path = `tools[${at}]`;
    reportCacheMark(tool, path, ignored);
    if (tool.type === 'custom') {
      const { input_schema: parameters, ...named } = readObject(MESSAGE_TOOL, tool, path);
      return { type: 'function', function: given({ ...named, parameters }) };
    }
    ignored.ignore(path, `tools of type ${tool.type} are not served`);
    return [];
  });
}

/** @throws DomainError for a demand that nothing is left to meet */
function choiceOf({ tool_choice: choice }: MessageObjects, hasTools: boolean): Fields {
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

function messagesOf({ system, messages }: MessageObjects): readonly Fields[] {
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
    if (part.type === 'text') return part;
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

import { type Fields } from '@switchyard/engine-api/is-object.js';
import { z } from 'zod';
import {
  type OllamaChatRequest,
  type OllamaGenerateRequest,
} from '../../contracts/ollama/ollama.dto.js';
import { samplingIn } from '../../contracts/openai/generation.dto.js';
import { type IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { readObject } from '../../contracts/schema/field-problems.js';
import {
  ANY_TEXT,
  defaulted,
  filled,
  OBJECT,
  objectsUpTo,
  optional,
  textOr,
} from '../../contracts/schema/rules.js';
import { callOf, imagePart, streamed, thinking } from '../text/chat-body.js';
import { type ParamNames } from '../text/param-names.js';

const MOST = 10_000;
const IMAGES = defaulted(z.array(filled(), 'must be a list of texts').max(100), []);

const MESSAGE = z.object(
  {
    role: filled(100),
    content: defaulted(ANY_TEXT, ''),
    thinking: optional(ANY_TEXT),
    images: IMAGES,
    tool_calls: defaulted(
      objectsUpTo(
        1024,
        z.object({
          function: z.object({ name: filled(), arguments: defaulted(OBJECT, {}) }),
        }),
      ),
      [],
    ),
    tool_name: optional(ANY_TEXT),
    tool_call_id: optional(ANY_TEXT),
  },
  'must be an object',
);

const OBJECTS = z.object({
  options: defaulted(OBJECT, {}),
  format: optional(textOr(OBJECT)),
  think: optional(z.union([z.boolean(), ANY_TEXT], 'must be true, false or a level')),
});

const MESSAGES = z.object({ messages: objectsUpTo(MOST, MESSAGE) });

type OllamaMessage = z.output<typeof MESSAGE>;

/** What a chat has under the same name. */
const SAME = ['seed', 'stop', 'top_k', 'min_p', 'repeat_penalty'];

/** Fields of a chat, as a caller of Ollama knows them. */
export const PARAMS_OF_OLLAMA: ParamNames = [
  [/^max_(completion_)?tokens$/, 'options.num_predict'],
  [/^response_format\b.*/, 'format'],
  [/^chat_template_kwargs\b.*|^reasoning_effort$/, 'think'],
  [/^(seed|stop|temperature|top_\w|min_p|\w+_penalty)\b/, 'options.$1'],
];

/**
 * As a chat, which is the one form of a conversation that engines know (D-30).
 * @throws DomainError for the first thing wrong with the body
 */
export function chatOfOllama(
  dto: OllamaChatRequest,
  body: Fields,
  ignored: IgnoredFields,
) {
  const { messages } = readObject(MESSAGES, body);
  return {
    ...usual(dto, body, ignored),
    messages: chatMessages(messages),
    ...toolsOf(dto),
  };
}

/** A chat of one question, or with `raw` the body of a completion. */
export function promptOfOllama(
  dto: OllamaGenerateRequest,
  body: Fields,
  ignored: IgnoredFields,
) {
  const fields = usual(dto, body, ignored);
  if (dto.raw) {
    const { max_completion_tokens, ...others } = fields;
    return { ...others, max_tokens: max_completion_tokens, prompt: dto.prompt };
  }
  const { images } = readObject(z.object({ images: IMAGES }), body);
  const system = dto.system ? [{ role: 'system', content: dto.system }] : [];
  const asked = { role: 'user', content: withImages(dto.prompt, images) };
  return { ...fields, messages: [...system, asked] };
}

const toolsOf = ({ tools }: OllamaChatRequest): Fields =>
  tools && tools.length > 0 ? { tools } : {};

function usual(
  { model, stream }: OllamaChatRequest | OllamaGenerateRequest,
  body: Fields,
  ignored: IgnoredFields,
): Fields {
  const { options, format, think } = readObject(OBJECTS, body);
  return {
    model,
    ...optionsOf(options, ignored),
    ...formatOf(format),
    ...(typeof think === 'boolean' && thinking(think)),
    ...(typeof think === 'string' && { reasoning_effort: think }),
    ...streamed(stream),
  };
}

function optionsOf(
  { num_predict: most, ...options }: Fields,
  ignored: IgnoredFields,
): Fields {
  const acting = { ...samplingIn(options) } as Record<string, unknown>;
  for (const [name, value] of Object.entries(options)) {
    if (SAME.includes(name) && value !== null) acting[name] = value;
    if (!(name in acting))
      ignored.advised(`options.${name}`, value, 'it is decided in models.yaml');
  }
  // -1: as many as there are.
  const isBound = typeof most === 'number' && most > 0;
  return { ...acting, ...(isBound && { max_completion_tokens: most }) };
}

function formatOf(format: string | Fields | undefined): Fields {
  if (format === undefined || format === '') return {};
  if (format === 'json') return { response_format: { type: 'json_object' } };
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'format', schema: format },
    },
  };
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
}

/** Calls have no ids there: a result answers the oldest open call of its tool. */
function chatMessages(messages: readonly OllamaMessage[]): readonly Fields[] {
  const open: OpenCall[] = [];
  return messages.map((message, at) => {
    if (message.role === 'tool') return resultOf(message, open);
    const { role, content, thinking: thoughts, images, tool_calls: calls } = message;
    const made = calls.map(({ function: { name, arguments: given } }, index) => {
      const id = `call_${at}_${index}`;
      open.push({ id, name });
      return callOf(id, name, JSON.stringify(given));
    });
    const isCall = made.length > 0;
    return {
      role,
      content: isCall && content === '' ? null : withImages(content, images),
      ...(thoughts && { reasoning_content: thoughts }),
      ...(isCall && { tool_calls: made }),
    };
  });
}

function resultOf(
  { content, tool_name: name, tool_call_id: id }: OllamaMessage,
  open: OpenCall[],
) {
  const found = open.findIndex(call => call.id === id || call.name === name);
  const [call] = open.splice(Math.max(0, found), 1);
  return { role: 'tool', tool_call_id: id ?? call?.id ?? 'call', content };
}

/** Beginnings of base64. */
const IMAGE_TYPES = [
  ['/9j/', 'jpeg'],
  ['R0lGO', 'gif'],
  ['UklGR', 'webp'],
] as const;

function withImages(text: string, images: readonly string[]): unknown {
  if (images.length === 0) return text;
  const parts = images.map(data => {
    const type = IMAGE_TYPES.find(([head]) => data.startsWith(head))?.[1] ?? 'png';
    return imagePart(`data:image/${type};base64,${data}`);
  });
  return [{ type: 'text', text }, ...parts];
}

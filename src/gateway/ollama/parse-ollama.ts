import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { OllamaChatRequest, type OllamaMessage } from '../../contracts/ollama/chat.dto.js';
import { OllamaEmbedRequest } from '../../contracts/ollama/embed.dto.js';
import { OllamaGenerateRequest } from '../../contracts/ollama/generate.dto.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { samplingIn } from '../../contracts/openai/sampling.js';
import { readDto } from '../http/dto-validation.js';
import { demandAbilities, type Strictness } from '../models/model-abilities.js';
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
import { parseChat, parseCompletion } from '../text/parse-generation.js';

/** What a chat has under the same name. */
const SAME = ['seed', 'stop', 'top_k', 'min_p', 'repeat_penalty'];

/** Fields of a chat, as a caller of Ollama knows them. */
export const PARAMS_OF_OLLAMA: ParamNames = [
  [/^max_(completion_)?tokens$/, 'options.num_predict'],
  [/^response_format\b.*/, 'format'],
  [/^chat_template_kwargs\b.*|^reasoning_effort$/, 'think'],
  [/^(seed|stop|temperature|top_\w|min_p|\w+_penalty)\b/, 'options.$1'],
];

const FORMS = { chat: OllamaChatRequest, generate: OllamaGenerateRequest };

/** Clients add `:latest` to names without a tag. */
export function servedName<T>(name: T, catalog: ModelCatalog): T | string {
  if (typeof name !== 'string' || !name.endsWith(':latest')) return name;
  const isKnown = catalog.byName.has(name);
  return isKnown ? name : name.slice(0, -':latest'.length);
}

/** @throws DomainError for the first thing wrong with the body */
function readOllama<T extends { model: string }>(
  type: new () => T,
  fields: Fields,
  catalog: ModelCatalog,
  { strict }: Strictness,
) {
  const ignored = new IgnoredFields(strict);
  ignored.settleAll(rulesOf(type), fields);
  const dto = readDto(type, fields);
  dto.model = servedName(dto.model, catalog);
  return { ignored, dto };
}

/** @throws DomainError for the first thing wrong with the body */
export function parseOllama(
  form: keyof typeof FORMS,
  fields: Fields,
  catalog: ModelCatalog,
  compat: Strictness,
) {
  const type: new () => OllamaChatRequest | OllamaGenerateRequest = FORMS[form];
  const { ignored, dto } = readOllama(type, fields, catalog, compat);
  const asked =
    dto instanceof OllamaChatRequest ? chatOfOllama(dto, ignored) : promptOfOllama(dto, ignored);
  const most = { name: 'options.num_predict', value: dto.options.num_predict };
  reportUnreachable(catalog.getOfKind(dto.model, 'llm'), most, ignored);
  const parse = 'prompt' in asked ? parseCompletion : parseChat;
  return { stream: dto.stream, ...translated(asked, ignored, catalog, compat, parse) };
}

/** @throws DomainError for the first thing wrong with the body of `POST /api/embed` */
export function parseEmbed(fields: Fields, catalog: ModelCatalog, compat: Strictness) {
  const { dto, ignored } = readOllama(OllamaEmbedRequest, fields, catalog, compat);
  const model = catalog.getOfKind(dto.model, 'embedding', 'embeddings');
  demandAbilities(model, { dto }, catalog, compat);
  return { model, dto, ignored: ignored.paths };
}

/**
 * How clients of Ollama load a model: nothing is to be answered.
 * @returns undefined: there is
 * @throws DomainError for the first thing wrong with the body
 */
export function parseLoad(
  form: keyof typeof FORMS,
  fields: Fields,
  catalog: ModelCatalog,
  compat: Strictness,
) {
  const { messages, prompt, images } = fields;
  const isLoad =
    form === 'chat'
      ? Array.isArray(messages ?? []) && !(messages as unknown[] | undefined)?.length
      : (prompt ?? '') === '' && images === undefined;
  if (!isLoad) return undefined;
  const asked = messages === undefined ? { ...fields, messages: [] } : fields;
  const type: new () => Pick<OllamaChatRequest, 'model'> = FORMS[form];
  const { dto, ignored } = readOllama(type, asked, catalog, compat);
  return { model: catalog.getOfKind(dto.model, 'llm'), ignored: ignored.paths };
}

/** As a chat, which is the one form of a conversation that engines know (D-30). */
function chatOfOllama(dto: OllamaChatRequest, ignored: IgnoredFields) {
  const { tools = [], messages } = dto;
  return {
    ...usual(dto, ignored),
    messages: chatMessages(messages),
    ...(tools.length > 0 && { tools }),
  };
}

/** A chat of one question, or with `raw` the body of a completion. */
function promptOfOllama(dto: OllamaGenerateRequest, ignored: IgnoredFields) {
  const fields = usual(dto, ignored);
  if (dto.raw) {
    const { max_completion_tokens, logprobs, top_logprobs: _, ...others } = fields;
    ignored.advised('logprobs', logprobs, 'they are those of a chat');
    return { ...others, max_tokens: max_completion_tokens, prompt: dto.prompt };
  }
  const system = dto.system ? [{ role: 'system', content: dto.system }] : [];
  const asked = { role: 'user', content: withImages(dto.prompt, dto.images) };
  return { ...fields, messages: [...system, asked] };
}

function usual(
  {
    model,
    stream,
    options,
    format,
    think,
    logprobs,
    top_logprobs,
  }: OllamaChatRequest | OllamaGenerateRequest,
  ignored: IgnoredFields,
): Fields {
  return {
    model,
    ...optionsOf(options, ignored),
    ...formatOf(format),
    ...(typeof think === 'boolean' && thinking(think)),
    ...(typeof think === 'string' && { reasoning_effort: think }),
    ...(logprobs && given({ logprobs, top_logprobs })),
    ...streamed(stream),
  };
}

function optionsOf(options: Fields, ignored: IgnoredFields): Fields {
  const { num_predict: most } = options;
  const same = given(Object.fromEntries(SAME.map(name => [name, options[name]])));
  const acting: Fields = { ...samplingIn(options), ...same };
  const acts = (name: string): boolean => name in acting || name === 'num_predict';
  ignored.others(options, acts, 'it is decided in models.yaml', 'options.');
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

/** Calls have no ids there: a result answers the oldest open call of its tool. */
function chatMessages(messages: readonly OllamaMessage[]): readonly Fields[] {
  const open = new OpenCalls();
  return messages.map((message, at) => {
    if (message.role === 'tool') return resultOf(message, open);
    const { role, content, thinking: thoughts, images, tool_calls: calls } = message;
    const made = calls.map(({ function: { name, arguments: given } }, index) => {
      const id = `call_${at}_${index}`;
      open.add(id, name);
      return callOf(id, name, writeJson(given));
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
  { content, tool_name: name, tool_call_id: given }: OllamaMessage,
  open: OpenCalls,
) {
  const id = open.take(given, name) ?? 'call';
  return { role: 'tool', tool_call_id: given ?? id, content };
}

/** Calls without a result, by their ids and by their names, the oldest first. */
class OpenCalls {
  readonly #ids = new Set<string>();
  readonly #byName = new Map<string, Set<string>>();
  readonly #names = new Map<string, string>();

  add(id: string, name: string): void {
    this.#ids.add(id);
    this.#names.set(id, name);
    const named = this.#byName.get(name);
    if (named) named.add(id);
    else this.#byName.set(name, new Set([id]));
  }

  /** The call of that id, else the oldest of that name, else the oldest. */
  take(given: string | undefined, name: string | undefined): string | undefined {
    const [named] = this.#byName.get(name ?? '') ?? [];
    const [oldest] = this.#ids;
    const id = given !== undefined && this.#ids.has(given) ? given : (named ?? oldest);
    if (id === undefined) return undefined;
    this.#ids.delete(id);
    this.#byName.get(this.#names.get(id)!)?.delete(id);
    return id;
  }
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

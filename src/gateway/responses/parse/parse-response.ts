import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  readObject,
  unsupportedField,
  wrongField,
  missingField,
} from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import {
  ANYTHING,
  asksForNothing,
  optional,
  objectsUpTo,
  textUpTo,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { type ServiceTier } from '../../../contracts/openai/field-types.js';
import { rulesOf } from '../../../contracts/openai/field.decorators.js';
import { IgnoredFields } from '../../../contracts/openai/ignored-fields.js';
import { readTools } from '../../../contracts/openai/read-tools.js';
import {
  ITEM_REFERENCE,
  type ItemReference,
  RESPONSE_ITEMS,
  type ResponseItem,
} from '../../../contracts/openai/response-items.js';
import {
  CreateResponseRequest,
  ResponseInputRequest,
  MOST_ITEMS,
} from '../../../contracts/openai/response.dto.js';
import {
  RESPONSE_OBJECTS,
  type ResponseRequest,
  type ResponseObject,
} from '../../../contracts/openai/responses.js';
import { samplingIn } from '../../../contracts/openai/sampling.js';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { parseDto } from '../../http/dto-validation.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { piecesOf, usageAmong } from '../../text/generation-pieces.js';
import { newId } from './response-object.js';

/** Opaque to clients: what this gateway can read again begins so. */
const MARK = 'switchyard1.';

/** The last message of a conversation that its model sums up. */
const SUM_UP =
  'Sum up this conversation for somebody who has to continue it and cannot read it: what was asked, ' +
  'what was done and found, what was decided, what is still to be done. Keep names, numbers, paths ' +
  'and quotations that are still needed. Answer with the summary only.';

/**
 * `POST /v1/responses/compact`: what the client sends in place of the conversation, which
 * are its messages but for those of the model, and the summary. A model that writes none would
 * mostly do so again: then what the summary stands for goes on as it is.
 * @param answer what the model made of the conversation and `SUM_UP`
 */
export function compactionOf(
  { id, created_at }: ResponseObject,
  conversation: readonly ResponseItem[],
  answer: Buffer,
): object {
  const pieces = piecesOf(answer);
  const texts = pieces.map(piece => (piece.type === 'text' ? piece.text : ''));
  const isKept = (item: ResponseItem): boolean =>
    item.type === 'message' && item.role !== 'assistant';
  const kept = conversation.filter(isKept);
  const left = conversation.filter(item => !isKept(item));
  const summary = texts.join('').trim() || writeJson(left);
  const encrypted_content = MARK + Buffer.from(summary).toString('base64url');
  return {
    id,
    object: 'response.compaction',
    created_at,
    output: [...kept, { id: newId('cmp'), type: 'compaction', encrypted_content }],
    usage: usageAmong(pieces) ?? null,
  };
}

/** An item `compaction` as a message. Undefined: another server made it. */
function messageOfCompaction(content: unknown): object | undefined {
  if (typeof content !== 'string' || !content.startsWith(MARK)) return undefined;
  const summary = Buffer.from(content.slice(MARK.length), 'base64url').toString('utf8');
  const text = `Summary of the conversation so far:\n${summary}`;
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

type InputItem = ResponseItem | ItemReference;

/** Makes ids for items that were given none. */
type NewId = (prefix: string) => string;

const HEAD = z.object(
  { type: optional(textUpTo(128)), id: optional(textUpTo(256)) },
  'must be an object',
);
const HEADS = objectsUpTo(MOST_ITEMS, HEAD);

/**
 * The input of a request as whole items. Those that no model here can read are left
 * out, with notice.
 * @throws DomainError for the first item that is malformed
 */
export function readInput(
  input: unknown,
  newId: NewId,
  ignored = new IgnoredFields(true),
): readonly InputItem[] {
  if (input === undefined) return [];
  const items =
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input as readonly Fields[]);
  return readObject(HEADS, items, 'input').flatMap((head, index) => {
    const path = `input[${index}]`;
    const item = readItem(items[index]!, head, path, newId);
    if (!item) ignored.ignore(path, `items of type \`${head.type}\` are not read here`);
    return item ?? [];
  });
}

function readItem(
  item: Fields,
  head: z.output<typeof HEAD>,
  path: string,
  newId: NewId,
): InputItem | undefined {
  const { type = item.role == null ? undefined : 'message', id } = head;
  if (type === undefined && id === undefined) throw missingField(`${path}.type`);
  // An id alone is how references are abbreviated.
  if (type === undefined || type === 'item_reference')
    return readObject(ITEM_REFERENCE, { type: 'item_reference', id }, path);
  const whole = wholeOf(item, type);
  if (!isKnown(whole.type)) return undefined;
  const [schema, prefix] = RESPONSE_ITEMS[whole.type];
  const read: z.ZodType<ResponseItem> = schema;
  return readObject(read, { ...whole, id: id ?? newId(prefix) }, path);
}

function wholeOf(item: Fields, type: string): Fields {
  if (type === 'message') return messageOf(item);
  if (type === 'compaction') return { ...item, ...messageOfCompaction(item.encrypted_content) };
  return callOf(item, type);
}

const isKnown = (type: unknown): type is keyof typeof RESPONSE_ITEMS =>
  Object.hasOwn(RESPONSE_ITEMS, String(type));

/** A text is a message of one part. */
function messageOf(item: Fields): Fields {
  const { role, content: text } = item;
  if (typeof text !== 'string') return { ...item, type: 'message' };
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { ...item, type: 'message', content: [{ type, text }] };
}

/**
 * Calls of other servers' tools, and what they brought: a model reads them as
 * those of functions.
 */
function callOf(item: Fields, type: string): Fields {
  const [, name, output] = OTHER_CALL.exec(type) ?? [];
  if (name === undefined || item.call_id == null) return item;
  if (output !== undefined)
    return { ...item, type: 'function_call_output', output: textOf(item.output) };
  const given = textOf(item.action ?? item.operation);
  return { ...item, type: 'function_call', name, arguments: given };
}

const OTHER_CALL = /^(local_shell|shell|apply_patch)_call(_output)?$/;

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : writeJson(value ?? {});

const RESPONSE_FIELDS = rulesOf(CreateResponseRequest);
const INPUT_FIELDS = rulesOf(ResponseInputRequest);

interface ParsedResponse {
  readonly request: ResponseRequest;
  readonly model: ModelSpec;
  readonly tier: ServiceTier;
}

interface ParseOptions {
  readonly catalog: ModelCatalog;
  readonly newId: NewId;
  /** Responses can be stored: what needs that is refused otherwise. */
  readonly stores: boolean;
  /** Receives the fields that only advise and have no effect. */
  readonly ignored: IgnoredFields;
}

const INCLUDABLE = [
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
];

const STREAM_OPTIONS = z.object({ include_obfuscation: optional(ANYTHING) }, 'must be an object');

/**
 * @throws DomainError for the first thing wrong with the body of `POST /v1/responses`.
 */
export function parseResponse(body: Fields, options: ParseOptions): ParsedResponse {
  const { stores, ignored } = options;
  const dto = parseDto(CreateResponseRequest, body);
  const model = options.catalog.getOfKind(dto.model, 'llm');
  ignored.settleAll(RESPONSE_FIELDS, body);
  demandStore(dto, stores);
  demandInclude(dto, ignored);
  if (dto.truncation === 'auto')
    ignored.ignore('truncation', 'nothing of a conversation is dropped');
  const { include_obfuscation: padded } = readObject(
    STREAM_OPTIONS,
    body.stream_options ?? {},
    'stream_options',
  );
  ignored.advised('stream_options.include_obfuscation', padded, 'events are not padded');
  const objects = readObject(RESPONSE_OBJECTS, body);
  // Another server may know how much to say.
  if (model.engine !== 'openai-http')
    ignored.advised('text.verbosity', objects.text.verbosity, 'this model decides by itself');
  return {
    request: requestOf(dto, body, objects, options),
    model,
    tier: dto.service_tier,
  };
}

/**
 * As a request for one token without conditions: they change nothing of the input.
 * @throws DomainError for the first thing wrong with the body of `POST
 *   /v1/responses/input_tokens`.
 */
export function parseInputCount(body: Fields, options: ParseOptions): ParsedResponse {
  const parsed = parseInput(body, options, { max_output_tokens: 1 });
  const { tool_choice } = parsed.request;
  return withFields(parsed, { tool_choice: tool_choice === 'none' ? 'none' : 'auto' });
}

/**
 * As a request whose last message asks for a summary.
 * @throws DomainError for the first thing wrong with the body of `POST
 *   /v1/responses/compact`.
 */
export function parseCompaction(body: Fields, options: ParseOptions): ParsedResponse {
  // It may be as long as the context still allows: the input may have filled most of it.
  const parsed = parseInput(body, options);
  const asked = readInput(SUM_UP, options.newId);
  const input = [...parsed.request.input, ...asked];
  return withFields(parsed, { tool_choice: 'none', input });
}

const withFields = (parsed: ParsedResponse, fields: Partial<ResponseRequest>): ParsedResponse => ({
  ...parsed,
  request: { ...parsed.request, ...fields },
});

/** A body that only has input, as a request for text. */
function parseInput(
  body: Fields,
  options: ParseOptions,
  more: Pick<ResponseRequest, 'max_output_tokens'> = { max_output_tokens: null },
): ParsedResponse {
  const dto = parseDto(ResponseInputRequest, body);
  const model = options.catalog.getOfKind(dto.model, 'llm');
  const whole = Object.assign(new CreateResponseRequest(), dto, {
    store: false,
    ...more,
  });
  options.ignored.settleAll(INPUT_FIELDS, body);
  demandStore(whole, options.stores);
  const objects = readObject(RESPONSE_OBJECTS, body);
  const asked = requestOf(whole, body, objects, options);
  const request = { ...asked, text: { format: { type: 'text' } as const } };
  return { request, model, tier: dto.service_tier };
}

function requestOf(
  dto: CreateResponseRequest,
  body: Fields,
  objects: z.output<typeof RESPONSE_OBJECTS>,
  { newId, stores, ignored }: ParseOptions,
): ResponseRequest {
  const { tools, choice } = readTools(body, 'response', ignored);
  return {
    tools,
    instructions: dto.instructions,
    previous_response_id: dto.previous_response_id,
    tool_choice: choice,
    parallel_tool_calls: dto.parallel_tool_calls,
    max_output_tokens: dto.max_output_tokens,
    max_tool_calls: dto.max_tool_calls,
    ...objects,
    truncation: dto.truncation,
    top_logprobs: dto.top_logprobs,
    metadata: dto.metadata,
    user: dto.user,
    safety_identifier: dto.safety_identifier,
    prompt_cache_key: dto.prompt_cache_key,
    background: dto.background,
    model: dto.model,
    input: readInput(dto.input, newId, ignored),
    include: dto.include,
    stream: dto.stream,
    store: dto.store ?? stores,
    ...samplingIn(dto),
  };
}

const NO_STORE = 'this server stores no responses';

function demandStore(dto: CreateResponseRequest, stores: boolean): void {
  const { background, store } = dto;
  const needing = (['previous_response_id', 'store', 'background'] as const).find(
    name => !asksForNothing(dto[name]),
  );
  if (needing !== undefined && !stores) throw unsupportedField(needing, NO_STORE);
  if (background && store === false)
    throw unsupportedField('store', 'what runs in the background is stored');
}

function demandInclude({ include }: CreateResponseRequest, ignored: IgnoredFields): void {
  if (!include.every(name => INCLUDABLE.includes(name)))
    throw wrongField('include', include, `must name some of ${INCLUDABLE.join(', ')}`);
  if (include.includes('reasoning.encrypted_content'))
    ignored.ignore('include', 'reasoning is not encrypted: it is in `content`');
}

import { type Fields } from '@switchyard/engine-api/is-object.js';
import { z } from 'zod';
import { samplingIn } from '../../contracts/openai/generation.dto.js';
import {
  CreateResponseRequest,
  ResponseInputRequest,
} from '../../contracts/openai/response.dto.js';
import {
  type IgnoredFields,
  type ServiceTier,
} from '../../contracts/openai/field-types.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import {
  RESPONSE_OBJECTS,
  type ResponseRequest,
} from '../../contracts/openai/responses.js';
import {
  readObject,
  unsupportedField,
  wrongField,
} from '../../contracts/schema/field-problems.js';
import { ANYTHING, asksForNothing, optional } from '../../contracts/schema/rules.js';
import { readTools } from '../../contracts/openai/read-tools.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { parseDto } from '../http/dto-validation.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { SUM_UP } from './compaction.js';
import { type NewId, readInput } from './read-items.js';

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

const STREAM_OPTIONS = z.object(
  { include_obfuscation: optional(ANYTHING) },
  'must be an object',
);

/**
 * @throws DomainError for the first thing wrong with the body of `POST /v1/responses`.
 */
export function parseResponse(body: Fields, options: ParseOptions): ParsedResponse {
  const { stores, ignored } = options;
  const dto = parseDto(CreateResponseRequest, body);
  const model = options.catalog.getOfKind(dto.model, 'llm');
  ignored.settle(RESPONSE_FIELDS, body);
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
    ignored.advised(
      'text.verbosity',
      objects.text.verbosity,
      'this model decides by itself',
    );
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

const withFields = (
  parsed: ParsedResponse,
  fields: Partial<ResponseRequest>,
): ParsedResponse => ({ ...parsed, request: { ...parsed.request, ...fields } });

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
  options.ignored.settle(INPUT_FIELDS, body);
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

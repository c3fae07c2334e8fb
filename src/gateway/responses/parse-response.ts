import { samplingIn } from '../../contracts/openai/generation.dto.js';
import {
  CreateResponseRequest,
  ResponseInputRequest,
} from '../../contracts/openai/response.dto.js';
import {
  type IgnoredFields,
  type ServiceTier,
} from '../../contracts/openai/field-rules.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import {
  type ResponseParams,
  type ResponseRequest,
} from '../../contracts/openai/responses.js';
import { FieldReader } from '../../contracts/realtime/field-reader.js';
import { readTools } from '../../contracts/tools/read-tools.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { parseDto } from '../http/dto-validation.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { type NewId, readInput } from './read-items.js';
import { readReasoning, readText } from './read-text.js';

type Body = Readonly<Record<string, unknown>>;

const RESPONSE_FIELDS = rulesOf(CreateResponseRequest);
const INPUT_FIELDS = rulesOf(ResponseInputRequest);

export interface ParsedResponse {
  readonly request: ResponseRequest;
  readonly model: ModelSpec;
  readonly tier: ServiceTier;
}

export interface ParseOptions {
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

/**
 * @throws DomainError for the first thing wrong with the body of `POST /v1/responses`.
 */
export function parseResponse(body: Body, options: ParseOptions): ParsedResponse {
  const dto = parseDto(CreateResponseRequest, body);
  const model = options.catalog.getOfKind(dto.model, 'llm');
  const fields = new FieldReader(body, '', options.ignored);
  fields.settle(RESPONSE_FIELDS);
  demandStore(dto, fields, options.stores);
  demandInclude(dto, fields);
  noteAdvice(dto, fields, model);
  return { request: requestOf(dto, body, options), model, tier: dto.service_tier };
}

/** What has no effect here. Another server may know how hard to think. */
function noteAdvice(
  dto: CreateResponseRequest,
  fields: FieldReader,
  { engine }: ModelSpec,
): void {
  if (dto.truncation === 'auto')
    fields.ignore('truncation', 'nothing of a conversation is dropped');
  fields
    .object('stream_options')
    ?.advised('include_obfuscation', 'events are not padded');
  if (engine === 'openai-http') return;
  fields.advised('reasoning', 'this model decides by itself');
  fields.object('text')?.advised('verbosity', 'this model decides by itself');
}

/**
 * As a request for one token without conditions: they change nothing of the input.
 * @throws DomainError for the first thing wrong with the body of `POST
 *   /v1/responses/input_tokens`.
 */
export function parseInputCount(body: Body, options: ParseOptions): ParsedResponse {
  const dto = parseDto(ResponseInputRequest, body);
  const model = options.catalog.getOfKind(dto.model, 'llm');
  const whole = Object.assign(new CreateResponseRequest(), dto, {
    store: false,
    max_output_tokens: 1,
  });
  const fields = new FieldReader(body, '');
  fields.settle(INPUT_FIELDS);
  demandStore(whole, fields, options.stores);
  const asked = requestOf(whole, body, options);
  const tool_choice = asked.tool_choice === 'none' ? 'none' : 'auto';
  return {
    request: { ...asked, text: { format: { type: 'text' } }, tool_choice },
    model,
    tier: dto.service_tier,
  };
}

function requestOf(
  dto: CreateResponseRequest,
  body: Body,
  { newId, stores, ignored }: ParseOptions,
): ResponseRequest {
  const fields = new FieldReader(body, '', ignored);
  return {
    ...paramsOf(dto, fields),
    model: dto.model,
    input: readInput(dto.input, newId, ignored),
    include: dto.include ?? [],
    stream: dto.stream,
    store: dto.store ?? stores,
    ...samplingIn(dto),
  };
}

function paramsOf(
  dto: CreateResponseRequest,
  fields: FieldReader,
): Omit<ResponseParams, 'store'> {
  const { tools, choice } = readTools(fields, 'response');
  return {
    tools,
    instructions: dto.instructions ?? null,
    previous_response_id: dto.previous_response_id ?? null,
    tool_choice: choice,
    parallel_tool_calls: dto.parallel_tool_calls,
    max_output_tokens: dto.max_output_tokens ?? null,
    max_tool_calls: dto.max_tool_calls ?? null,
    text: readText(fields),
    reasoning: readReasoning(fields),
    truncation: dto.truncation,
    top_logprobs: dto.top_logprobs ?? 0,
    metadata: dto.metadata ?? {},
    user: dto.user ?? null,
    safety_identifier: dto.safety_identifier ?? null,
    prompt_cache_key: dto.prompt_cache_key ?? null,
    background: dto.background,
  };
}

const NO_STORE = 'this server stores no responses';

function demandStore(
  dto: CreateResponseRequest,
  fields: FieldReader,
  stores: boolean,
): void {
  if (!stores) {
    fields.unsupported('previous_response_id', NO_STORE);
    if (dto.store) throw fields.refusal('store', NO_STORE);
    if (dto.background) throw fields.refusal('background', NO_STORE);
  }
  if (dto.background && dto.store === false)
    throw fields.refusal('store', 'what runs in the background is stored');
}

function demandInclude(
  { include = [] }: CreateResponseRequest,
  fields: FieldReader,
): void {
  if (!include.every(name => INCLUDABLE.includes(name)))
    throw fields.invalid('include', `must name some of ${INCLUDABLE.join(', ')}`);
  if (include.includes('reasoning.encrypted_content'))
    fields.ignore('include', 'reasoning is not encrypted: it is in `content`');
}

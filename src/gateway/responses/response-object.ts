import {
  type ResponseFailure,
  type ResponseObject,
  type ResponseParams,
  type ResponseRequest,
} from '../../contracts/openai/responses.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/shared/domain-error.js';

export interface ResponseHead {
  readonly id: string;
  /** Unix seconds. */
  readonly createdS: number;
  /** Canonical id of the model. */
  readonly model: string;
  readonly serviceTier: string;
}

/** The response to a request as it begins. What was not asked for has the default that models use. */
export function newResponse(
  request: ResponseRequest,
  { id, createdS, model, serviceTier }: ResponseHead,
): ResponseObject {
  return {
    ...{ id, object: 'response', created_at: createdS, completed_at: null },
    status: request.background ? 'queued' : 'in_progress',
    ...{ incomplete_details: null, error: null, model, output: [], usage: null },
    ...repeated(request),
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    service_tier: serviceTier,
  };
}

/** What a response repeats of its request. */
function repeated(request: ResponseRequest): ResponseParams {
  const { instructions, previous_response_id, max_output_tokens, max_tool_calls, text, reasoning, truncation } =
    request;
  const { tools, tool_choice, parallel_tool_calls, top_logprobs, metadata, store, background } = request;
  const { user, safety_identifier, prompt_cache_key } = request;
  return {
    ...{ instructions, previous_response_id, max_output_tokens, max_tool_calls, text, reasoning, truncation },
    ...{ tools, tool_choice, parallel_tool_calls, top_logprobs, metadata, store, background },
    ...{ user, safety_identifier, prompt_cache_key },
  };
}

/** Why a response failed. */
export function failureOf(error: DomainError): ResponseFailure {
  const { type, code, message, param } = errorEnvelope(error).error;
  return { type, code: code ?? error.code, message, param };
}

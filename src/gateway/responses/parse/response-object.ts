import { randomBytes } from 'node:crypto';
import { type ResponseObject, type ResponseRequest } from '../../../contracts/openai/responses.js';
import {
  samplingIn,
  type SamplingRequest,
  USUAL_SAMPLING,
} from '../../../contracts/openai/sampling.js';

/** An id that no one can guess, which names a response of its tenant. */
export const newId = (prefix: string): string => `${prefix}_${randomBytes(24).toString('hex')}`;

/**
 * The response to a request as it begins. What was not asked for has the default
 * that models use.
 * @param sampling of the model, where a request does not say
 */
export function newResponse(
  request: ResponseRequest,
  head: Pick<ResponseObject, 'id' | 'created_at' | 'model' | 'service_tier'>,
  sampling: SamplingRequest = {},
): ResponseObject {
  const { model: _, input: _input, include: _include, stream: _stream, ...repeated } = request;
  return {
    id: head.id,
    object: 'response',
    created_at: head.created_at,
    completed_at: null,
    status: request.background ? 'queued' : 'in_progress',
    incomplete_details: null,
    error: null,
    model: head.model,
    output: [],
    usage: null,
    ...repeated,
    ...USUAL_SAMPLING,
    ...(sampling as typeof USUAL_SAMPLING),
    ...(samplingIn(request) as typeof USUAL_SAMPLING),
    service_tier: head.service_tier,
  };
}

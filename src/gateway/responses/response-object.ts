import { randomBytes } from 'node:crypto';
import {
  samplingIn,
  type SamplingRequest,
  USUAL_SAMPLING,
} from '../../contracts/openai/generation.dto.js';
import {
  type ResponseObject,
  type ResponseRequest,
} from '../../contracts/openai/responses.js';

/** An id that no one can guess, which names a response of its tenant. */
export const newId = (prefix: string): string =>
  `${prefix}_${randomBytes(24).toString('hex')}`;

/** Unix seconds. */
export const nowS = (): number => Math.floor(Date.now() / 1000);

interface ResponseHead {
  readonly id: string;
  /** Unix seconds. */
  readonly createdS: number;
  /** Canonical id of the model. */
  readonly model: string;
  readonly serviceTier: string;
  /** Of the model, where a request does not say. */
  readonly sampling?: SamplingRequest;
}

/**
 * The response to a request as it begins. What was not asked for has the default
 * that models use.
 */
export function newResponse(
  request: ResponseRequest,
  { id, createdS, model, serviceTier, sampling }: ResponseHead,
): ResponseObject {
  const {
    model: _,
    input: _input,
    include: _include,
    stream: _stream,
    ...repeated
  } = request;
  return {
    id,
    object: 'response',
    created_at: createdS,
    completed_at: null,
    status: request.background ? 'queued' : 'in_progress',
    incomplete_details: null,
    error: null,
    model,
    output: [],
    usage: null,
    ...repeated,
    ...USUAL_SAMPLING,
    ...(sampling as typeof USUAL_SAMPLING),
    ...(samplingIn(request) as typeof USUAL_SAMPLING),
    service_tier: serviceTier,
  };
}

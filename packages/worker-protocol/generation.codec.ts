import { invalidValue } from '@switchyard/engine-api/coded-error.js';
import { type EmbedItem, type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import {
  type CallEnvelope,
  type CallExecution,
  decodeEnvelope,
  decodeExecution,
  encodeEnvelope,
  encodeExecution,
  nameOf,
} from './call.codec.js';
import {
  EmbedRequest_Form as EmbedForm,
  type EmbedRequest,
  type EmbedResponse,
  GenerateRequest_Form as Form,
  type GenerateRequest,
  type GenerateResponse,
} from './generated/switchyard/v1/generation.js';

export {
  TextGenerationClient as TextGenerationStub,
  TextGenerationService as textGenerationDefinition,
  type TextGenerationClient,
  type TextGenerationServer,
  type EmbedRequest,
  type EmbedResponse,
  type GenerateRequest,
  type GenerateResponse,
} from './generated/switchyard/v1/generation.js';

/** Largest share of a tenant beside others. */
export const MAX_TENANT_WEIGHT = 1000;

/** One `Generate` call as both sides see it. */
export interface GenerateCallFields extends CallEnvelope {
  /**
   * The bodies of `response` and `message` are known to another server only; for
   * `tokenize` and `detokenize` nothing is generated.
   */
  readonly form: keyof typeof FORMS;
  /** The caller's JSON object, byte by byte. */
  readonly body: Buffer;
  /** Whether the answer comes as OpenAI's chunks; else it is one chunk. */
  readonly stream: boolean;
  /** Tokens per choice at most; 0: no limit was named. */
  readonly maxTokens: number;
  /** Choices, 1 or more. */
  readonly n: number;
  /** The tenant; also the salt of what is kept between requests. */
  readonly tenant: string;
  /** Share of the tenant beside others (D-25), from 1. */
  readonly tenantWeight: number;
}

/**
 * The stream in order: chunks of JSON, then one done with the finish reasons in order of
 * the choices' index.
 */
export type GenerationMessage = NonNullable<GenerateResponse['message']>;

/** One `Embed` call as both sides see it. */
export type EmbedCallFields = CallEnvelope & Omit<EmbedItem, 'signal' | 'urgency'>;

export interface Embedded {
  /** 32-bit floats, little endian, one vector after another. */
  readonly vectors: Buffer;
  /** Length of one vector. */
  readonly dimensions: number;
  readonly usage?: TokenUsage;
  readonly execution: CallExecution;
}

const FORMS = {
  chat: Form.CHAT,
  completion: Form.COMPLETION,
  response: Form.RESPONSE,
  tokenize: Form.TOKENIZE,
  detokenize: Form.DETOKENIZE,
  message: Form.MESSAGE,
} as const;

export const encodeGenerateCall = (call: GenerateCallFields): GenerateRequest => ({
  ...call,
  ...encodeEnvelope(call),
  form: FORMS[call.form],
});

/** @throws EngineError `invalid_value` for a form that this worker does not know */
export function decodeGenerateCall(message: GenerateRequest): GenerateCallFields {
  const form = nameOf(FORMS, message.form);
  if (!form)
    throw invalidValue(
      `form must be one of ${Object.keys(FORMS).join(', ')}; got ${message.form}`,
      'form',
    );
  return {
    ...message,
    ...decodeEnvelope(message),
    form,
    n: Math.max(1, message.n),
    tenantWeight: Math.min(MAX_TENANT_WEIGHT, Math.max(1, message.tenantWeight)),
  };
}

export const encodeEmbedCall = (call: EmbedCallFields): EmbedRequest => ({
  ...call,
  ...encodeEnvelope(call),
  form: call.form === 'rerank' ? EmbedForm.RERANK : EmbedForm.UNSPECIFIED,
});

export const decodeEmbedCall = (message: EmbedRequest): EmbedCallFields => ({
  ...message,
  ...decodeEnvelope(message),
  form: message.form === EmbedForm.RERANK ? 'rerank' : undefined,
});

export const encodeEmbedded = (embedded: Embedded): EmbedResponse => ({
  ...embedded,
  execution: encodeExecution(embedded.execution),
});

export const decodeEmbedded = (message: EmbedResponse): Embedded => ({
  ...message,
  execution: decodeExecution(message.execution),
});

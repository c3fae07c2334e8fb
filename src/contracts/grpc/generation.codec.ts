import { MAX_TENANT_WEIGHT } from '../../core/queue/tenant-shares.js';
import { type RequestForm } from '../formats/generation-body.js';
import { type TokenUsage } from '../formats/usage.js';
import {
  type CallEnvelope,
  type CallExecution,
  corrected,
  decodeEnvelope,
  decodeExecution,
  encodeEnvelope,
  encodeExecution,
} from './call.codec.js';
import {
  EmbedRequest_Form as EmbedForm,
  type EmbedRequest,
  type EmbedResponse,
  GenerateRequest_Form as Form,
  type GenerateRequest,
  type GenerateResponse,
  TextGenerationClient,
  type TokenUsage as TokenUsageMessage,
} from './generated/switchyard/v1/generation.js';

export {
  TextGenerationService as textGenerationDefinition,
  type TextGenerationClient,
  type TextGenerationServer,
  type EmbedRequest,
  type EmbedResponse,
  type GenerateRequest,
  type GenerateResponse,
} from './generated/switchyard/v1/generation.js';

export const TextGenerationStub = TextGenerationClient;

/** One `Generate` call as both sides see it. */
export interface GenerateCallFields extends CallEnvelope {
  readonly form: RequestForm;
  /** The caller's JSON object, byte by byte. */
  readonly body: Buffer;
  /** OpenAI's chunks; else one chunk with the whole answer. */
  readonly stream: boolean;
  /** Per choice; 0: no limit named. */
  readonly maxTokens: number;
  /** Choices, 1 or more. */
  readonly n: number;
  /** Salt of what is kept between requests. */
  readonly tenant: string;
  /** Share of the tenant beside others (D-25), from 1. */
  readonly tenantWeight: number;
  /** Never on the wire: of its caller, for a worker in this process. */
  readonly traceparent?: string;
}

/** The stream in order: chunks, then one done. */
export type GenerationMessage =
  | { readonly kind: 'chunk'; readonly json: Buffer }
  | {
      readonly kind: 'done';
      readonly usage?: TokenUsage;
      /** In order of the choices' index. */
      readonly finishReasons: readonly string[];
      readonly execution: CallExecution;
      readonly firstTokenMs?: number;
    };

/** One `Embed` call as both sides see it. */
export interface EmbedCallFields extends CallEnvelope {
  /** Absent: the body asks for embeddings. `rerank`: each vector is the score of a document. */
  readonly form?: 'rerank';
  readonly body: Buffer;
  /** Vectors the answer holds. */
  readonly inputs: number;
  readonly tenant: string;
}

export interface Embedded {
  /** 32-bit floats, little endian, one vector after another. */
  readonly vectors: Buffer;
  /** Length of one vector. */
  readonly dimensions: number;
  readonly usage?: TokenUsage;
  readonly execution: CallExecution;
}

const FORMS = {
  ...{ chat: Form.CHAT, completion: Form.COMPLETION, response: Form.RESPONSE },
  ...{ tokenize: Form.TOKENIZE, detokenize: Form.DETOKENIZE },
} as const;
const FORM_NAMES = new Map<Form, RequestForm>(Object.entries(FORMS).map(([name, form]) => [form, name as RequestForm]));

export const encodeGenerateCall = (call: GenerateCallFields): GenerateRequest => ({
  ...encodeEnvelope(call),
  form: FORMS[call.form],
  body: call.body,
  stream: call.stream,
  maxTokens: call.maxTokens,
  n: call.n,
  tenant: call.tenant,
  tenantWeight: call.tenantWeight,
});

/** @throws RangeError when the form is none that this worker knows. */
export function decodeGenerateCall(message: GenerateRequest): GenerateCallFields {
  const { body, stream, maxTokens, tenant } = message;
  const form = FORM_NAMES.get(message.form);
  if (!form) throw new RangeError(`form must be one of ${Object.keys(FORMS).join(', ')}; got ${message.form}`);
  const tenantWeight = Math.min(MAX_TENANT_WEIGHT, Math.max(1, message.tenantWeight));
  const n = Math.max(1, message.n);
  return { ...decodeEnvelope(message), form, body, stream, maxTokens, n, tenant, tenantWeight };
}

export function encodeGenerationMessage(message: GenerationMessage): GenerateResponse {
  if (message.kind === 'chunk') return { message: { $case: 'chunk', value: message.json } };
  const { usage, finishReasons, execution, firstTokenMs } = message;
  const value = { usage, finishReasons: [...finishReasons], execution: encodeExecution(execution), firstTokenMs };
  return { message: { $case: 'done', value } };
}

/** Undefined: a message of a newer worker that this gateway does not know. */
export function decodeGenerationMessage({ message }: GenerateResponse): GenerationMessage | undefined {
  if (message?.$case === 'chunk') return { kind: 'chunk', json: message.value };
  if (message?.$case !== 'done') return undefined;
  const { usage, finishReasons, execution, firstTokenMs } = corrected(message.value);
  return {
    kind: 'done',
    finishReasons,
    execution: decodeExecution(execution),
    ...(usage && { usage: usageOf(usage) }),
    ...(firstTokenMs !== undefined && { firstTokenMs }),
  };
}

export const encodeEmbedCall = (call: EmbedCallFields): EmbedRequest => ({
  ...encodeEnvelope(call),
  body: call.body,
  inputs: call.inputs,
  tenant: call.tenant,
  form: call.form === 'rerank' ? EmbedForm.RERANK : EmbedForm.UNSPECIFIED,
});

export const decodeEmbedCall = (message: EmbedRequest): EmbedCallFields => ({
  ...decodeEnvelope(message),
  body: message.body,
  inputs: message.inputs,
  tenant: message.tenant,
  ...(message.form === EmbedForm.RERANK && { form: 'rerank' as const }),
});

export const encodeEmbedded = ({ vectors, dimensions, usage, execution }: Embedded): EmbedResponse => ({
  vectors,
  dimensions,
  usage,
  execution: encodeExecution(execution),
});

export const decodeEmbedded = ({ vectors, dimensions, usage, execution }: EmbedResponse): Embedded => ({
  vectors,
  dimensions,
  execution: decodeExecution(execution),
  ...(usage && { usage: usageOf(usage) }),
});

const usageOf = ({ promptTokens, completionTokens, cachedTokens }: TokenUsageMessage): TokenUsage => ({
  promptTokens,
  completionTokens,
  cachedTokens,
});

import { type Fields, fieldsIn } from '@switchyard/engine-api/is-object.js';
import { objectIn } from '@switchyard/engine-api/json-in.js';
import { type Urgency } from '@switchyard/engine-api/text-embedder.js';
import { withJsonFields } from '../../../contracts/formats/json-fields.js';

/** What another server's queue is told about a request. */
interface QueuedCall {
  readonly urgency: Urgency;
  /** Id of the tenant; API keys are never passed on. */
  readonly tenant: string;
  /** Milliseconds until its first output is late; absent: no such deadline. */
  readonly firstOutputMs?: number | undefined;
}

interface Words {
  /** Set in the JSON body. @param body the caller's, read only where words join its own */
  readonly fields?: (body: () => Fields) => Fields;
  readonly headers?: Readonly<Record<string, string>>;
}

/** In `priority` of vLLM the lower number goes first, in those of others the higher one. */
const LOWER_FIRST = { realtime: 0, aged: 1, batch: 2 };
const HIGHER_FIRST = { realtime: 2, aged: 1, batch: 0 };
const SMG_CLASSES = { realtime: 'interactive', aged: 'default', batch: 'bulk' };
/** Names of the InferenceObjective resources that the operator makes. */
const OBJECTIVES = { realtime: 'realtime', aged: 'realtime', batch: 'batch' };
const DEFAULT_TENANT = 'default';

/**
 * What each server with a queue of its own is told, in its words; the table of
 * docs/guides/in-front-of-vllm.md says the same. Only llm-d has a word for deadlines.
 */
export const SCHEDULERS = {
  none: () => ({}),
  vllm: ({ urgency }) => ({ fields: () => ({ priority: LOWER_FIRST[urgency] }) }),
  sglang: ({ urgency }) => ({ fields: () => ({ priority: HIGHER_FIRST[urgency] }) }),
  smg: ({ urgency, tenant }) => ({
    headers: { 'x-smg-priority': SMG_CLASSES[urgency], 'x-smg-tenant-id': tenant },
  }),
  'llm-d': ({ urgency, tenant, firstOutputMs }) => ({
    headers: {
      'x-gateway-inference-fairness-id': tenant,
      'x-gateway-inference-objective': OBJECTIVES[urgency],
      ...(firstOutputMs && { 'x-slo-ttft-ms': String(Math.ceil(firstOutputMs)) }),
    },
  }),
  dynamo: ({ urgency }) => ({
    fields: body => ({
      nvext: { ...fieldsIn(body().nvext), agent_hints: { priority: HIGHER_FIRST[urgency] } },
    }),
  }),
} satisfies Readonly<Record<string, (call: QueuedCall) => Words>>;

export type SchedulerName = keyof typeof SCHEDULERS;

/** A body and the headers beside it, with what the server's queue is told. */
export function toldOf(
  scheduler: SchedulerName = 'none',
  call: Partial<QueuedCall>,
  { body, fields }: { readonly body: Buffer; readonly fields: Fields },
) {
  const { urgency = 'batch', tenant } = call;
  const words: Words = SCHEDULERS[scheduler]({
    ...call,
    urgency,
    tenant: tenant || DEFAULT_TENANT,
  });
  const told = words.fields?.(() => objectIn(body.toString('utf8')) ?? {});
  return { body: withJsonFields(body, { ...fields, ...told }), headers: words.headers };
}

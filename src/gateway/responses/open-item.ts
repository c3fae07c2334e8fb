import {
  type ItemStatus,
  type OutputTextPart,
  type ReasoningTextPart,
  type RefusalPart,
  type ResponseEventBody,
  type ResponseItem,
} from '../../contracts/openai/responses.js';

type Kind = 'text' | 'refusal' | 'reasoning' | 'tool_call' | 'custom_call';

/**
 * An item of the output while it is made: a message or reasoning of one part, or a call.
 */
export interface OpenItem {
  readonly kind: Kind;
  readonly id: string;
  /** Its place in the output. */
  readonly index: number;
  /** So far: text, or arguments of the call. */
  readonly text: string;
  readonly logprobs: readonly object[];
  /** Of a call. */
  readonly callId: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export const isCall = ({ kind }: Pick<OpenItem, 'kind'>): boolean =>
  kind === 'tool_call' || kind === 'custom_call';

interface NewItem {
  readonly kind: Kind;
  /** Id of the response: with the place it makes the item's id. */
  readonly response: string;
  readonly index: number;
  readonly callId?: string;
  readonly name?: string;
  readonly namespace?: string | undefined;
}

const PREFIXES = {
  text: 'msg',
  refusal: 'msg',
  reasoning: 'rs',
  tool_call: 'fc',
  custom_call: 'ctc',
} as const;

export function newItem({
  kind,
  response,
  index,
  callId,
  name = '',
  namespace,
}: NewItem): OpenItem {
  const number =
    response.slice(response.indexOf('_') + 1) + index.toString(16).padStart(4, '0');
  const id = `${PREFIXES[kind]}_${number}`;
  return {
    kind,
    id,
    index,
    text: '',
    logprobs: [],
    callId: callId ?? `call_${number}`,
    name,
    namespace,
  };
}

/** What an event of its beginning told. */
export function readItem(item: ResponseItem, index: number): OpenItem {
  const open = { id: item.id, index, text: '', logprobs: [], callId: '', name: '' };
  if (item.type === 'function_call' || item.type === 'custom_tool_call') {
    const kind = item.type === 'function_call' ? 'tool_call' : 'custom_call';
    return {
      ...open,
      kind,
      callId: item.call_id,
      name: item.name,
      namespace: item.namespace,
    };
  }
  return { ...open, kind: item.type === 'reasoning' ? 'reasoning' : 'text' };
}

/** The item with what an event about it tells. */
export function withEvent(open: OpenItem, event: ResponseEventBody): OpenItem {
  if (event.type === 'response.content_part.added' && event.part.type === 'refusal')
    return { ...open, kind: 'refusal' };
  if (!('delta' in event)) return open;
  const isScored = 'logprobs' in event && event.logprobs.length > 0;
  return {
    ...open,
    text: open.text + event.delta,
    ...(isScored && { logprobs: [...open.logprobs, ...event.logprobs] }),
  };
}

/** The events that begin it. */
export function eventsOfBeginning(open: OpenItem): readonly ResponseEventBody[] {
  const item = {
    ...itemOf(open, 'in_progress'),
    ...(!isCall(open) && { content: [] }),
  } as ResponseItem;
  const added = {
    type: 'response.output_item.added',
    output_index: open.index,
    item,
  } as const;
  if (isCall(open)) return [added];
  return [
    added,
    { type: 'response.content_part.added', ...placeOf(open), part: partOf(open) },
  ];
}

export function eventOfDelta(
  open: OpenItem,
  delta: string,
  logprobs: readonly object[] = [],
): ResponseEventBody {
  const place = placeOf(open);
  if (open.kind === 'text')
    return { type: 'response.output_text.delta', ...place, delta, logprobs };
  if (open.kind === 'refusal') return { type: 'response.refusal.delta', ...place, delta };
  if (open.kind === 'reasoning')
    return { type: 'response.reasoning_text.delta', ...place, delta };
  const { item_id, output_index } = place;
  const what =
    open.kind === 'tool_call' ? 'function_call_arguments' : 'custom_tool_call_input';
  return { type: `response.${what}.delta`, item_id, output_index, delta };
}

/** The events that end it. */
export function eventsOfEnd(
  open: OpenItem,
  status: ItemStatus,
): readonly ResponseEventBody[] {
  const done = {
    type: 'response.output_item.done',
    output_index: open.index,
    item: itemOf(open, status),
  } as const;
  const whole = eventOfWhole(open);
  if (isCall(open)) return [whole, done];
  return [
    whole,
    { type: 'response.content_part.done', ...placeOf(open), part: partOf(open) },
    done,
  ];
}

function eventOfWhole(open: OpenItem): ResponseEventBody {
  const { kind, text, logprobs, name } = open;
  const place = placeOf(open);
  if (kind === 'text')
    return { type: 'response.output_text.done', ...place, text, logprobs };
  if (kind === 'refusal')
    return { type: 'response.refusal.done', ...place, refusal: text };
  if (kind === 'reasoning')
    return { type: 'response.reasoning_text.done', ...place, text };
  const { item_id, output_index } = place;
  if (kind === 'custom_call')
    return {
      type: 'response.custom_tool_call_input.done',
      item_id,
      output_index,
      input: text,
    };
  return {
    type: 'response.function_call_arguments.done',
    item_id,
    output_index,
    name,
    arguments: text,
  };
}

export function itemOf(open: OpenItem, status: ItemStatus): ResponseItem {
  const { kind, id, text, callId, name, namespace } = open;
  const call = {
    id,
    call_id: callId,
    name,
    ...(namespace !== undefined && { namespace }),
  };
  if (kind === 'tool_call')
    return { type: 'function_call', ...call, arguments: text, status };
  if (kind === 'custom_call')
    return { type: 'custom_tool_call', ...call, input: text, status };
  const part = partOf(open);
  if (part.type === 'reasoning_text')
    return { type: 'reasoning', id, summary: [], content: [part], status };
  return { type: 'message', id, status, role: 'assistant', content: [part] };
}

function partOf({
  kind,
  text,
  logprobs,
}: OpenItem): OutputTextPart | RefusalPart | ReasoningTextPart {
  if (kind === 'refusal') return { type: 'refusal', refusal: text };
  if (kind === 'reasoning') return { type: 'reasoning_text', text };
  return { type: 'output_text', text, annotations: [], logprobs };
}

const placeOf = ({ id, index }: OpenItem) => ({
  item_id: id,
  output_index: index,
  content_index: 0,
});

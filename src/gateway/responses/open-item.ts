import {
  type ItemStatus,
  type OutputPart,
  RESPONSE_ITEMS,
  type ResponseItem,
} from '../../contracts/openai/response-items.js';
import { type ResponseEventBody } from '../../contracts/openai/responses.js';

/**
 * What a model says, by kind: the item that holds it, and the name and the field of its
 * text in parts and events.
 */
const KINDS = {
  text: { item: 'message', name: 'output_text', field: 'text' },
  refusal: { item: 'message', name: 'refusal', field: 'refusal' },
  reasoning: { item: 'reasoning', name: 'reasoning_text', field: 'text' },
  tool_call: {
    item: 'function_call',
    name: 'function_call_arguments',
    field: 'arguments',
  },
  custom_call: {
    item: 'custom_tool_call',
    name: 'custom_tool_call_input',
    field: 'input',
  },
} as const;

type Kind = keyof typeof KINDS;

/** What begins; of a call: what is called. */
export interface CalledTool {
  readonly kind: Kind;
  readonly callId?: string | undefined;
  readonly name?: string;
  readonly namespace?: string | undefined;
}

/**
 * An item of the output while it is made: a message or reasoning of one part, or a call.
 */
export interface OpenItem extends CalledTool {
  readonly id: string;
  /** Its place in the output. */
  readonly index: number;
  /** So far: text, or arguments of the call. */
  readonly text: string;
  readonly logprobs: readonly object[];
}

export const isCall = ({ kind }: OpenItem): boolean =>
  kind === 'tool_call' || kind === 'custom_call';

/** @param response its id: with the place in the output it makes the item's id */
export function newItem(of: CalledTool, response: string, index: number): OpenItem {
  const number =
    response.slice(response.indexOf('_') + 1) + index.toString(16).padStart(4, '0');
  const id = `${RESPONSE_ITEMS[KINDS[of.kind].item][1]}_${number}`;
  const { callId = `call_${number}` } = of;
  return { ...of, id, index, text: '', logprobs: [], callId };
}

/** What an event of its beginning told. */
export function readItem(item: ResponseItem, index: number): OpenItem {
  const kinds = Object.keys(KINDS) as Kind[];
  const kind = kinds.find(one => KINDS[one].item === item.type) ?? 'text';
  const open = { kind, id: item.id, index, text: '', logprobs: [] };
  if (!('name' in item)) return open;
  const { call_id: callId, name, namespace } = item;
  return { ...open, callId, name, namespace };
}

/** The item with what an event about it tells. */
export function withEvent(open: OpenItem, event: ResponseEventBody): OpenItem {
  if (event.type === 'response.content_part.added' && event.part.type === 'refusal')
    return { ...open, kind: 'refusal' };
  if (!('delta' in event)) return open;
  const { delta, logprobs = [] } = event;
  const scored = logprobs.length > 0 ? [...open.logprobs, ...logprobs] : open.logprobs;
  return { ...open, text: open.text + delta, logprobs: scored };
}

/** The events that begin it. */
export function eventsOfBeginning(open: OpenItem): readonly ResponseEventBody[] {
  const item = itemOf(open, 'in_progress');
  const added = { type: 'response.output_item.added', output_index: open.index } as const;
  if (isCall(open)) return [{ ...added, item }];
  return [
    { ...added, item: { ...item, content: [] } as ResponseItem },
    partEvent(open, 'added'),
  ];
}

export const eventOfDelta = (
  open: OpenItem,
  delta: string,
  logprobs: readonly object[] = [],
): ResponseEventBody => ({
  type: `response.${KINDS[open.kind].name}.delta`,
  ...placeOf(open),
  delta,
  ...(open.kind === 'text' && { logprobs }),
});

/** The events that end it. */
export function eventsOfEnd(
  open: OpenItem,
  status: ItemStatus,
): readonly ResponseEventBody[] {
  const { kind, index, name = '', text, logprobs } = open;
  const said = {
    type: `response.${KINDS[kind].name}.done`,
    ...placeOf(open),
    ...(kind === 'tool_call' && { name }),
    [KINDS[kind].field]: text,
    ...(kind === 'text' && { logprobs }),
  } as const;
  return [
    said,
    ...(isCall(open) ? [] : [partEvent(open, 'done')]),
    {
      type: 'response.output_item.done',
      output_index: index,
      item: itemOf(open, status),
    },
  ];
}

export function itemOf(open: OpenItem, status: ItemStatus): ResponseItem {
  const { kind, id, text, callId: call_id, name, namespace } = open;
  const { item: type, field } = KINDS[kind];
  if (type === 'message')
    return { type, id, status, role: 'assistant', content: [partOf(open)] };
  if (type === 'reasoning')
    return { type, id, summary: [], content: [partOf(open)], status };
  const called = { name, ...(namespace !== undefined && { namespace }) };
  return { type, id, call_id, ...called, [field]: text, status } as ResponseItem;
}

const partEvent = (open: OpenItem, what: 'added' | 'done'): ResponseEventBody => ({
  type: `response.content_part.${what}`,
  ...placeOf(open),
  part: partOf(open),
});

const partOf = <P extends OutputPart>({ kind, text, logprobs }: OpenItem): P =>
  ({
    type: KINDS[kind].name,
    [KINDS[kind].field]: text,
    ...(kind === 'text' && { annotations: [], logprobs }),
  }) as unknown as P;

const placeOf = (open: OpenItem) => ({
  item_id: open.id,
  output_index: open.index,
  ...(!isCall(open) && { content_index: 0 }),
});

import {
  type ResponseItem,
  type OutputPart,
  RESPONSE_ITEMS,
} from '../../contracts/openai/response-items.js';
import {
  type ResponseEvent,
  type ResponseEventBody,
  type ResponseObject,
  type ResponseStatusEvent,
} from '../../contracts/openai/responses.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { failureOf } from './response-generation.js';
import { type GenerationPiece } from '../text/generation-pieces.js';
import { callableTools, inputOf } from '../../contracts/openai/read-tools.js';

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
interface CalledTool {
  readonly kind: Kind;
  readonly callId?: string | undefined;
  readonly name?: string;
  readonly namespace?: string | undefined;
}

/**
 * An item of the output while it is made: a message or reasoning of one part, or a call.
 */
interface OpenItem extends CalledTool {
  readonly id: string;
  /** Its place in the output. */
  readonly index: number;
  /** So far: text, or arguments of the call. */
  readonly text: string;
  readonly logprobs: readonly object[];
}

const isCall = ({ kind }: OpenItem): boolean =>
  kind === 'tool_call' || kind === 'custom_call';

/** @param response its id: with the place in the output it makes the item's id */
function newItem(of: CalledTool, response: string, index: number): OpenItem {
  const number =
    response.slice(response.indexOf('_') + 1) + index.toString(16).padStart(4, '0');
  const id = `${RESPONSE_ITEMS[KINDS[of.kind].item][1]}_${number}`;
  const { callId = `call_${number}` } = of;
  return { ...of, id, index, text: '', logprobs: [], callId };
}

/** What an event of its beginning told. */
function readItem(item: ResponseItem, index: number): OpenItem {
  const kinds = Object.keys(KINDS) as Kind[];
  const kind = kinds.find(one => KINDS[one].item === item.type) ?? 'text';
  const open = { kind, id: item.id, index, text: '', logprobs: [] };
  if (!('name' in item)) return open;
  const { call_id: callId, name, namespace } = item;
  return { ...open, callId, name, namespace };
}

/** The item with what an event about it tells. */
function withEvent(open: OpenItem, event: ResponseEventBody): OpenItem {
  if (event.type === 'response.content_part.added' && event.part.type === 'refusal')
    return { ...open, kind: 'refusal' };
  if (!('delta' in event)) return open;
  const { delta, logprobs = [] } = event;
  const scored = logprobs.length > 0 ? [...open.logprobs, ...logprobs] : open.logprobs;
  return { ...open, text: open.text + delta, logprobs: scored };
}

/** The events that begin it. */
function eventsOfBeginning(open: OpenItem): readonly ResponseEventBody[] {
  const item = itemOf(open, 'in_progress');
  const added = {
    type: 'response.output_item.added',
    output_index: open.index,
  } as const;
  if (isCall(open)) return [{ ...added, item }];
  return [
    { ...added, item: { ...item, content: [] } as ResponseItem },
    partEvent(open, 'added'),
  ];
}

const eventOfDelta = (
  open: OpenItem,
  delta: string,
  logprobs: readonly object[] = [],
): ResponseEventBody => ({
  type: `response.${KINDS[open.kind].name}.delta`,
  ...placeOf(open),
  delta,
  ...(open.kind === 'text' && { logprobs }),
});

type ItemStatus = ResponseItem['status'];

/** The events that end it. */
function eventsOfEnd(open: OpenItem, status: ItemStatus): readonly ResponseEventBody[] {
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

function itemOf(open: OpenItem, status: ItemStatus): ResponseItem {
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

const INCOMPLETE = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
} as const;
const isIncomplete = (reason: string): reason is keyof typeof INCOMPLETE =>
  Object.hasOwn(INCOMPLETE, reason);

/**
 * Pieces of a generation to the events of a response, and to the response itself. Pure:
 * equal pieces make equal events, ids included, and all that it knows can be read again
 * from the events that it made (`resumed`).
 */
export class ResponseWriter {
  #response: ResponseObject;
  #sequence = 0;
  readonly #output: ResponseItem[] = [];
  #open: OpenItem | undefined;
  /** Calls that were begun. */
  #calls = 0;
  /** Arguments of a custom call, until its text can be read from them. */
  #held = '';
  #made: ResponseEvent[] = [];

  /** @param response as it begins: queued or in progress, without output */
  constructor(response: ResponseObject) {
    this.#response = response;
  }

  /**
   * @param events all so far, from `response.created` on. @returns one that goes on
   *   where they end
   */
  static resumed([created, ...rest]: readonly ResponseEvent[]): ResponseWriter {
    if (created?.type !== 'response.created')
      throw new Error('events begin with response.created');
    const writer = new ResponseWriter(created.response);
    for (const event of [created, ...rest]) writer.#apply(event);
    return writer;
  }

  /** As it is now; what is not complete yet is in `output` as an item in progress. */
  get response(): ResponseObject {
    const open = this.#open ? [itemOf(this.#open, 'in_progress')] : [];
    return { ...this.#response, output: [...this.#output, ...open] };
  }

  /** Number of the next event. */
  get nextSequence(): number {
    return this.#sequence;
  }

  /** Before the work begins. */
  queued(): readonly ResponseEvent[] {
    this.#tell('response.created', { status: 'queued' });
    this.#tell('response.queued', {});
    return this.#taken();
  }

  /** The work begins; after `queued()` only this is told. */
  begin(): readonly ResponseEvent[] {
    if (this.#sequence === 0) this.#tell('response.created', { status: 'in_progress' });
    this.#tell('response.in_progress', { status: 'in_progress' });
    return this.#taken();
  }

  take(piece: GenerationPiece): readonly ResponseEvent[] {
    if (piece.type === 'usage')
      this.#response = { ...this.#response, usage: piece.usage };
    else if (piece.type === 'finish') this.#finish(piece.reason);
    else if (piece.type === 'tool_call') this.#call(piece);
    else this.#say(piece);
    return this.#taken();
  }

  /** The generation has ended, and not with a failure. @param atS Unix seconds */
  end(atS = Math.floor(Date.now() / 1000)): readonly ResponseEvent[] {
    this.#close('completed');
    if (this.#response.incomplete_details)
      this.#tell('response.incomplete', { status: 'incomplete' });
    else this.#tell('response.completed', { status: 'completed', completed_at: atS });
    return this.#taken();
  }

  /** What was said so far is kept. */
  fail(why: DomainError): readonly ResponseEvent[] {
    const error = failureOf(why);
    this.#close('incomplete');
    this.#emit({ type: 'error', error });
    this.#tell('response.failed', {
      status: 'failed',
      error: { code: error.code, message: error.message },
    });
    return this.#taken();
  }

  /**
   * Stopped by its caller; there is no event of its own for that. What was said so
   * far is kept.
   */
  cancel(): readonly ResponseEvent[] {
    this.#close('incomplete');
    this.#tell('response.incomplete', { status: 'cancelled' });
    return this.#taken();
  }

  #say(piece: Extract<GenerationPiece, { text: string }>): void {
    const { type, text } = piece;
    const logprobs = piece.type === 'text' ? piece.logprobs : undefined;
    if (this.#open?.kind !== type) {
      // Log probabilities alone are those of a call that is still held back.
      if (text === '' || (this.#isBehindCall && text.trim() === '')) return;
      this.#begin({ kind: type });
    }
    if (text !== '' || logprobs?.length)
      this.#emit(eventOfDelta(this.#open!, text, logprobs));
  }

  /** Line ends between calls are no message. */
  get #isBehindCall(): boolean {
    return this.#open ? isCall(this.#open) : 'call_id' in (this.#output.at(-1) ?? {});
  }

  /**
   * Calls come one after another: what is said of one before the last was told already.
   */
  #call({
    index,
    callId,
    name = '',
    arguments: piece,
  }: Extract<GenerationPiece, { type: 'tool_call' }>): void {
    const isNext = index >= this.#calls;
    const isLast =
      index === this.#calls - 1 && this.#open !== undefined && isCall(this.#open);
    if (!isNext && !isLast) return;
    if (isNext) this.#begin({ ...this.#called(name), callId });
    const input =
      this.#open?.kind === 'tool_call' ? piece : this.#inputIn(piece, isNext);
    if (input !== '') this.#emit(eventOfDelta(this.#open!, input));
  }

  /** A function that the model called, as the request declares it. */
  #called(name: string): CalledTool {
    const { tool, namespace } =
      callableTools(this.#response.tools).find(one => one.name === name) ?? {};
    return {
      kind: tool?.type === 'custom' ? 'custom_call' : 'tool_call',
      name: tool?.name ?? name,
      namespace,
    };
  }

  /**
   * The text of a custom tool is an argument; a call that comes whole can be
   * read at once.
   */
  #inputIn(piece: string, isFirst: boolean): string {
    this.#held += piece;
    const input = isFirst ? inputOf(this.#held) : undefined;
    if (input !== undefined) this.#held = '';
    return input ?? '';
  }

  #begin(of: CalledTool): void {
    this.#close('completed');
    const open = newItem(of, this.#response.id, this.#output.length);
    this.#emit(...eventsOfBeginning(open));
  }

  #finish(reason: string): void {
    const incomplete = isIncomplete(reason);
    this.#close(incomplete ? 'incomplete' : 'completed');
    if (incomplete)
      this.#response = {
        ...this.#response,
        incomplete_details: { reason: INCOMPLETE[reason] },
      };
  }

  #close(status: ItemStatus): void {
    if (this.#held !== '')
      this.#emit(eventOfDelta(this.#open!, inputOf(this.#held) ?? this.#held));
    this.#held = '';
    if (this.#open) this.#emit(...eventsOfEnd(this.#open, status));
  }

  #tell(type: ResponseStatusEvent, change: Partial<ResponseObject>): void {
    this.#emit({ type, response: { ...this.response, ...change } });
  }

  #emit(...bodies: readonly ResponseEventBody[]): void {
    for (const body of bodies) {
      const event: ResponseEvent = { ...body, sequence_number: this.#sequence };
      this.#apply(event);
      this.#made.push(event);
    }
  }

  #taken(): readonly ResponseEvent[] {
    const made = this.#made;
    this.#made = [];
    return made;
  }

  /** The only place where an event changes what is known. */
  #apply(event: ResponseEvent): void {
    this.#sequence = event.sequence_number + 1;
    if ('response' in event) this.#response = { ...event.response, output: [] };
    else if (event.type === 'response.output_item.added') {
      this.#open = readItem(event.item, event.output_index);
      if ('call_id' in event.item) this.#calls += 1;
    } else if (event.type === 'response.output_item.done') {
      this.#output.push(event.item);
      this.#open = undefined;
    } else if (this.#open) this.#open = withEvent(this.#open, event);
  }
}

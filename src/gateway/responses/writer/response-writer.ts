import { type Fields } from '@switchyard/engine-api/is-object.js';
import { callableTools, inputOf } from '../../../contracts/openai/read-tools.js';
import {
  type ResponseItem,
  type OutputPart,
  RESPONSE_ITEMS,
} from '../../../contracts/openai/response-items.js';
import {
  type ResponseEvent,
  type ResponseEventBody,
  type ResponseObject,
  type ResponseStatusEvent,
} from '../../../contracts/openai/responses.js';
import { type DomainError } from '../../../core/errors/domain-error.js';
import { type GenerationPiece } from '../../text/generation-pieces.js';
import { isCall, TEXTS, textIn, withEvent } from './item-text.js';
import { failureOf } from './response-generation.js';

const status = 'in_progress';
const MESSAGE = {
  type: 'message',
  fields: { status, role: 'assistant', content: [] },
} as const;
const REASONING = {
  type: 'reasoning',
  fields: { summary: [], content: [], status },
} as const;
const TEXT = { type: 'output_text', text: '', annotations: [], logprobs: [] };

/** Items of one part as they begin, by the piece that begins them. */
const BEGINNINGS = {
  text: { item: MESSAGE, part: TEXT },
  refusal: { item: MESSAGE, part: { type: 'refusal', refusal: '' } },
  reasoning: { item: REASONING, part: { type: 'reasoning_text', text: '' } },
} as const;

type ItemStatus = ResponseItem['status'];

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
  /** Items so far; the last one may still be open (`#isOpen`). */
  readonly #output: ResponseItem[] = [];
  #isOpen = false;
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
    if (created?.type !== 'response.created') throw new Error('events begin with response.created');
    const writer = new ResponseWriter(created.response);
    for (const event of [created, ...rest]) writer.#apply(event);
    return writer;
  }

  /** As it is now; what is not complete yet is in `output` as an item in progress. */
  get response(): ResponseObject {
    return { ...this.#response, output: [...this.#output] };
  }

  /** Number of the next event. */
  get nextSequence(): number {
    return this.#sequence;
  }

  /** Events of a response that waits in the queue. */
  queued(): readonly ResponseEvent[] {
    this.#tell('response.created', { status: 'queued' });
    this.#tell('response.queued', {});
    return this.#taken();
  }

  /** Events of the begin of the work; `response.created` is left out after `queued()`. */
  begin(): readonly ResponseEvent[] {
    if (this.#sequence === 0) this.#tell('response.created', { status: 'in_progress' });
    this.#tell('response.in_progress', { status: 'in_progress' });
    return this.#taken();
  }

  take(piece: GenerationPiece): readonly ResponseEvent[] {
    if (piece.type === 'usage') this.#response = { ...this.#response, usage: piece.usage };
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

  /** Ends the response as failed; the output so far stays. */
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
    const { part } = BEGINNINGS[type];
    if (!this.#open || textIn(this.#open).type !== part.type) {
      // Log probabilities alone are those of a call that is still held back, and line ends
      // between calls are no message.
      if (text === '' || (isCall(this.#output.at(-1)) && text.trim() === '')) return;
      this.#beginSaying(type);
    }
    if (text !== '' || logprobs?.length) this.#tellDelta(text, logprobs);
  }

  #beginSaying(what: keyof typeof BEGINNINGS): void {
    const { item, part } = BEGINNINGS[what];
    this.#begin(item.type, item.fields);
    this.#tellPart('added', part as OutputPart);
  }

  get #open(): ResponseItem | undefined {
    return this.#isOpen ? this.#output.at(-1) : undefined;
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
    const isLast = index === this.#calls - 1 && isCall(this.#open);
    if (!isNext && !isLast) return;
    if (isNext) this.#beginCall(name, callId);
    const isFunction = this.#open?.type === 'function_call';
    const input = isFunction ? piece : this.#inputIn(piece, isNext);
    if (input !== '') this.#tellDelta(input);
  }

  /** Of a function that the model called, as the request declares it. */
  #beginCall(called: string, callId = `call_${this.#nextNumber}`): void {
    const { tool, namespace } =
      callableTools(this.#response.tools).find(({ name }) => name === called) ?? {};
    const type = tool?.type === 'custom' ? 'custom_tool_call' : 'function_call';
    this.#begin(type, {
      call_id: callId,
      name: tool?.name ?? called,
      ...(namespace !== undefined && { namespace }),
      [TEXTS[type][1]]: '',
      status,
    });
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

  #begin(type: keyof typeof RESPONSE_ITEMS, fields: Fields): void {
    const id = `${RESPONSE_ITEMS[type][1]}_${this.#nextNumber}`;
    this.#close('completed');
    this.#emit({
      type: 'response.output_item.added',
      output_index: this.#output.length,
      item: { type, id, ...fields } as unknown as ResponseItem,
    });
  }

  /** That of the response, and the place in its output. */
  get #nextNumber(): string {
    const { id } = this.#response;
    const place = this.#output.length.toString(16).padStart(4, '0');
    return id.slice(id.indexOf('_') + 1) + place;
  }

  #finish(reason: string): void {
    const incomplete = isIncomplete(reason);
    // As OpenAI's: who says nothing says an empty text.
    if (!incomplete && this.#output.every(({ type }) => type === 'reasoning'))
      this.#beginSaying('text');
    this.#close(incomplete ? 'incomplete' : 'completed');
    if (incomplete)
      this.#response = {
        ...this.#response,
        incomplete_details: { reason: INCOMPLETE[reason] },
      };
  }

  #close(status: ItemStatus): void {
    if (this.#held !== '') this.#tellDelta(inputOf(this.#held) ?? this.#held);
    this.#held = '';
    const item = this.#open;
    if (!item) return;
    const text = textIn(item);
    const [name, field] = TEXTS[text.type];
    this.#emit({
      type: `response.${name}.done`,
      ...this.#place,
      ...(item.type === 'function_call' && { name: item.name }),
      [field]: text[field],
      ...(text.logprobs !== undefined && { logprobs: text.logprobs }),
    });
    if (!isCall(item)) this.#tellPart('done', text as unknown as OutputPart);
    const type = 'response.output_item.done';
    this.#emit({
      type,
      output_index: this.#place.output_index,
      item: { ...item, status },
    });
  }

  /** The fields that name the open item in an event. */
  get #place() {
    return {
      item_id: this.#open!.id,
      output_index: this.#output.length - 1,
      ...(!isCall(this.#open) && { content_index: 0 }),
    };
  }

  #tellPart(what: 'added' | 'done', part: OutputPart): void {
    this.#emit({ type: `response.content_part.${what}`, ...this.#place, part });
  }

  #tellDelta(delta: string, logprobs: readonly object[] = []): void {
    const { type } = textIn(this.#open!);
    this.#emit({
      type: `response.${TEXTS[type][0]}.delta`,
      ...this.#place,
      delta,
      ...(type === 'output_text' && { logprobs }),
    });
  }

  #tell(type: ResponseStatusEvent, change: Partial<ResponseObject>): void {
    this.#emit({ type, response: { ...this.response, ...change } });
  }

  #emit(body: ResponseEventBody): void {
    const event: ResponseEvent = { ...body, sequence_number: this.#sequence };
    this.#apply(event);
    this.#made.push(event);
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
      this.#output.push(event.item);
      this.#isOpen = true;
      if (isCall(event.item)) this.#calls += 1;
    } else if (this.#isOpen) {
      const isDone = event.type === 'response.output_item.done';
      const item = isDone ? event.item : withEvent(this.#output.at(-1)!, event);
      this.#output.splice(-1, 1, item);
      this.#isOpen = !isDone;
    }
  }
}

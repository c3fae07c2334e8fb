import { json } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { readObject } from '@switchyard/engine-api/field-problems.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { defaulted, filled, oneOf, wholeNumberFrom } from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import {
  valuesIn,
  jsonOf,
  withInnerFields,
  withJsonFields,
  withoutJsonField,
} from '../../../contracts/formats/json-fields.js';
import { errorEnvelope } from '../../../contracts/openai/error-envelope.js';
import { FINAL_EVENTS, type ResponseObject } from '../../../contracts/openai/responses.js';
import { CLOSE, type CloseCode } from '../../../contracts/realtime/realtime-event.js';
import { DomainError, shownError } from '../../../core/errors/domain-error.js';
import { valueSpans } from '../../../core/jobs/line-span.js';
import { linesOf } from '../../../platform/storage/line-splitter.js';
import { SMALL_BODY } from '../../limits/limit-guard.js';
import { type WorkAnswer } from '../../stored-work/stored-answers.js';
import { type ClientSocket } from '../../websockets/client-socket.js';

/** Messages of one connection that wait for their turn, the one that runs included. */
const MOST_WAITING = 16;
/** Bytes of a request that is remembered for the next one. */
const MOST_REMEMBERED = 4 << 20;
/**
 * Bytes that are read ahead of an answer, and those of a message that is not whole, before
 * they count as a body. The last piece of the message before them is among them.
 */
const LOOSE_BYTES = 2 * SMALL_BODY;
/** Milliseconds until a message for which there was no place is read further. */
const PAUSE_MS = 1000;

const EVENT = 'event: ';
const DATA = 'data: ';
const DONE = 'data: [DONE]';
/** Bytes of a line that are read: more than the longest of these names. */
const HEAD = 64;
/** Events that hold the whole response. */
const STATES: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  ...FINAL_EVENTS,
]);

const GOOD_ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);
const NO_BYTES = Buffer.alloc(0);

const withPrevious = (event: Buffer, previous: string | undefined): Buffer =>
  previous === undefined
    ? event
    : withInnerFields(event, 'response', { previous_response_id: previous });

/** What is read of a response that ends: its tools alone may have megabytes. */
const REMEMBERED = ['id', 'store', 'output'];

const TOLD = ['type', 'previous_response_id', 'input'] as const;
const CREATE = Buffer.from('"response.create"');
const MESSAGE = z.object({ type: oneOf(['response.create', 'response.resume']) });
const RESUMED = z.object({
  response_id: filled(128),
  starting_after: defaulted(wholeNumberFrom(-1, Number.MAX_SAFE_INTEGER), -1),
});

/**
 * One WebSocket of `/v1/responses`. Its messages are answered one after another, with the
 * events of the HTTP stream. What its last response said is remembered here, so that the
 * next message can continue it even if it is stored nowhere.
 */
export class ResponseConnection {
  readonly #logger = new Logger(ResponseConnection.name);
  readonly #left = new AbortController();
  #turns = Promise.resolve();
  #waiting = 0;
  /** Bytes that came since the last whole message, and those of messages that wait. */
  #unread = 0;
  #ahead = 0;
  #leavePlace: (() => void) | undefined;
  /** What was said up to the end of a response that is stored nowhere. */
  #last: { readonly id: string; readonly items: readonly unknown[] } | undefined;
  #forget: (() => void) | undefined;
  #idle: NodeJS.Timeout | undefined;
  #idleSinceMs: number | undefined;

  constructor(
    private readonly socket: ClientSocket,
    /** What the gateway does for the caller of this connection. */
    private readonly host: {
      /** Runs `POST /v1/responses`, until `left` is aborted. @throws DomainError */
      create(body: Buffer, left: AbortSignal): Promise<WorkAnswer>;
      /** Events of a background response. @throws DomainError when it has none */
      resume(id: string, after: number, left: AbortSignal): Promise<AsyncIterable<Buffer>>;
      /** A place for a message while it comes, as a body has. Undefined: there is none. */
      place(end: () => void): (() => void) | undefined;
      /** Room for what is remembered; `forget`: another tenant needs it. */
      remember(bytes: number, forget: () => void): (() => void) | undefined;
    },
    private readonly idleMs: number,
  ) {
    socket.listen({
      text: message => this.#take(message),
      binary: bytes => this.#take(bytes.toString()),
      gone: () => {
        clearTimeout(this.#idle);
        this.#leavePlace?.();
        this.#forget?.();
        this.#left.abort();
      },
    });
    this.#rest();
  }

  /** More bytes have come. While a message is answered, few are read ahead. */
  received(bytes: number): void {
    this.#unread += bytes;
    if (this.#unread + this.#ahead <= LOOSE_BYTES) return;
    if (this.#waiting > 0) return this.socket.pause();
    this.#leavePlace ??= this.host.place(() => {
      this.#refuse(new DomainError('queue_full', 'Others need the place of this slow message.'));
      this.socket.close(CLOSE.tryAgainLater, 'the message came too slowly');
    });
    if (!this.#leavePlace) this.socket.pauseFor(PAUSE_MS);
  }

  /** Aborted when the client has left. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** When its last answer ended (`performance.now()`), if that is `quietMs` ago. */
  quietSinceMs(quietMs: number): number | undefined {
    const since = this.#idleSinceMs;
    return since !== undefined && performance.now() - since >= quietMs ? since : undefined;
  }

  /** Closes when the messages that have come are answered. */
  async leave(code: CloseCode, reason: string): Promise<void> {
    await this.#turns;
    this.socket.close(code, reason);
  }

  #take(message: string): void {
    const bytes = this.#unread;
    this.#unread = 0;
    if (this.#waiting === MOST_WAITING) return this.#refuse(tooMany());
    clearTimeout(this.#idle);
    this.#idleSinceMs = undefined;
    this.#waiting += 1;
    this.#ahead += bytes;
    this.#turns = this.#turns
      .then(() => {
        this.#ahead -= bytes;
        return this.#answer(message);
      })
      .catch(error => this.#refuse(error))
      .finally(() => {
        // Of a message that was refused before its request began.
        this.#endPlace();
        this.#waiting -= 1;
        if (this.#waiting === 0) this.socket.resume();
        this.#rest();
      });
  }

  /** The place of the message that came while no other was answered. */
  #endPlace(): void {
    this.#leavePlace?.();
    this.#leavePlace = undefined;
  }

  #rest(): void {
    if (this.#waiting > 0 || this.left.aborted) return;
    this.#idleSinceMs = performance.now();
    const close = () => this.socket.close(CLOSE.normal, 'no message for too long');
    this.#idle = setTimeout(close, this.idleMs);
  }

  async #answer(text: string): Promise<void> {
    if (this.left.aborted) return;
    const message = Buffer.from(text);
    // Its route reads the rest of it: what is large is read once.
    const told = toldIn(message);
    if (told.type?.equals(CREATE)) return this.#create(message, told);
    const fields = fieldsOf(text);
    // Written with escapes.
    if (readObject(MESSAGE, fields).type === 'response.create') return this.#create(message, told);
    const { response_id: id, starting_after } = readObject(RESUMED, fields);
    await this.#relay(await this.host.resume(id, starting_after, this.left));
  }

  async #create(message: Buffer, told: Told): Promise<void> {
    const previous = told.previous_response_id?.toString() ?? 'null';
    const known = this.#taken(previous);
    const input = known && [...known.items, ...itemsIn(told)];
    const continued = input && { input, previous_response_id: null };
    // A large message is looked through in one turn of the event loop and changed in another one.
    await nextTurn();
    const asked = withoutJsonField(message, 'type');
    const body = withJsonFields(asked, { ...continued, stream: true });
    this.#endPlace();
    const { status, body: answer } = await this.host.create(body, this.left);
    if (status !== 200)
      return this.#fail(status, (await json(answer)) as ReturnType<typeof errorEnvelope>);
    const final = await this.#relay(answer, known?.id);
    if (!final || body.length > MOST_REMEMBERED || this.left.aborted) return;
    // The store alone knows what another response continued.
    if (known || previous === 'null')
      this.#remember(final, body.length, () => input ?? itemsIn(told));
  }

  /** What is known of the response with this id, as JSON. Nothing is remembered any more. */
  #taken(previous: string) {
    const last = this.#last;
    // Only a response that ends well can be continued without a store.
    this.#last = undefined;
    this.#forget?.();
    return last && writeJson(last.id) === previous ? last : undefined;
  }

  #remember(final: Buffer, size: number, input: () => readonly unknown[]): void {
    const read: unknown = valuesIn(jsonOf(final, 'response')!, REMEMBERED, STORED_BOUNDS);
    const { id, store, output } = read as ResponseObject;
    // The store knows what it stored.
    if (store !== false) return;
    this.#forget = this.host.remember(size, () => (this.#last = undefined));
    if (this.#forget) this.#last = { id, items: [...input(), ...output] };
  }

  /**
   * Sends events with the bytes that HTTP has: each may hold megabytes of tools.
   * @param previous what the response continues, where its request does not say so
   * @returns the final event; undefined: the response failed
   */
  async #relay(events: AsyncIterable<Uint8Array>, previous?: string): Promise<Buffer | undefined> {
    let type = '';
    let final: Buffer | undefined;
    for await (const { bytes = NO_BYTES } of linesOf(events)) {
      const head = bytes.toString('latin1', 0, HEAD);
      if (head.startsWith(EVENT)) type = head.slice(EVENT.length);
      if (!head.startsWith(DATA) || head === DONE) continue;
      const event = bytes.subarray(DATA.length);
      if (GOOD_ENDS.has(type)) final = event;
      this.socket.send(STATES.has(type) ? withPrevious(event, previous) : event);
      if (this.socket.overfull) await this.socket.drained();
    }
    return final;
  }

  #refuse(thrown: unknown): void {
    // The answer of a client that left ends in the middle.
    if (this.left.aborted) return;
    if (!(thrown instanceof DomainError)) this.#logger.error(thrown);
    const error = shownError(thrown);
    this.#fail(errorDefinition(error).status, errorEnvelope(error));
  }

  #fail(status: number, { error }: ReturnType<typeof errorEnvelope>): void {
    this.socket.send(writeJson({ type: 'error', status, error }));
  }
}

/** @throws DomainError `invalid_json` */
function fieldsOf(text: string): Fields {
  const message = inWords(() => parseBoundedJson(text));
  if (isObject(message)) return message;
  throw new DomainError('invalid_json', 'A message must be a JSON object.');
}

type Told = Partial<Record<(typeof TOLD)[number], Buffer>>;

/** The JSON of the fields that a connection looks at; found together: a message may hold megabytes. */
function toldIn(message: Buffer): Told {
  const spans = Object.entries(valueSpans(message, TOLD));
  return Object.fromEntries(
    spans.map(([name, { start, end }]) => [name, message.subarray(start, end)]),
  );
}

/** @throws DomainError `invalid_json` */
function itemsIn(told: Told): readonly unknown[] {
  const input = told.input && inWords(() => parseBoundedJson(told.input!.toString()));
  if (Array.isArray(input)) return input;
  return input === undefined ? [] : [{ role: 'user', content: input }];
}

function inWords<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new DomainError('invalid_json', (error as Error).message);
  }
}

const tooMany = (): DomainError =>
  new DomainError(
    'queue_full',
    `${MOST_WAITING} messages of this connection wait already: it answers one after another.`,
  );

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
import { errorEnvelope } from '../../../contracts/openai/error-envelope.js';
import { FINAL_EVENTS, type ResponseObject } from '../../../contracts/openai/responses.js';
import { CLOSE, type CloseCode } from '../../../contracts/realtime/realtime-event.js';
import { DomainError, shownError } from '../../../core/errors/domain-error.js';
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
/** Events that hold the whole response. */
const STATES: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  ...FINAL_EVENTS,
]);

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
  #turns: Promise<void> = Promise.resolve();
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
        this.#waiting -= 1;
        if (this.#waiting === 0) this.socket.resume();
        this.#rest();
      });
  }

  #rest(): void {
    if (this.#waiting > 0 || this.left.aborted) return;
    this.#idleSinceMs = performance.now();
    const close = () => this.socket.close(CLOSE.normal, 'no message for too long');
    this.#idle = setTimeout(close, this.idleMs);
  }

  async #answer(text: string): Promise<void> {
    if (this.left.aborted) return;
    const message = messageIn(text);
    const { type } = readObject(MESSAGE, message);
    if (type === 'response.resume') {
      const { response_id: id, starting_after } = readObject(RESUMED, message);
      const events = await this.host.resume(id, starting_after, this.left);
      return void (await this.#relay(events));
    }
    await this.#create(message);
  }

  async #create({ type: _, ...fields }: Fields): Promise<void> {
    const last = this.#last;
    const { previous_response_id: previous } = fields;
    // Only a response that ends well can be continued without a store.
    this.#last = undefined;
    this.#forget?.();
    const known = last?.id === previous ? last : undefined;
    const items = [...(known?.items ?? []), ...itemsOf(fields.input)];
    const asked = known ? { ...fields, input: items, previous_response_id: null } : fields;
    // A large message is read in one turn of the event loop and written in another one.
    await nextTurn();
    const body = Buffer.from(writeJson({ ...asked, stream: true }));
    this.#leavePlace?.();
    this.#leavePlace = undefined;
    const { status, body: answer } = await this.host.create(body, this.left);
    if (status !== 200)
      return this.#fail(status, (await json(answer)) as ReturnType<typeof errorEnvelope>);
    const said = await this.#relay(answer, known?.id);
    // The store knows what it stored, and alone what such a response continued.
    const isOurs = said?.store === false && asked.previous_response_id == null;
    if (!isOurs || body.length > MOST_REMEMBERED || this.left.aborted) return;
    this.#forget = this.host.remember(body.length, () => (this.#last = undefined));
    if (this.#forget) this.#last = { id: said.id, items: [...items, ...said.output] };
  }

  /**
   * Sends events. They are read as text, as HTTP has them: those of an upstream and those
   * that are stored come as nothing else. @param previous what the response continues, where its request does not
   * say so
   * @returns the response as it ended; undefined: it failed
   */
  async #relay(
    events: AsyncIterable<Uint8Array>,
    previous?: string,
  ): Promise<ResponseObject | undefined> {
    let type = '';
    let said: ResponseObject | undefined;
    for await (const { bytes } of linesOf(events)) {
      const line = bytes?.toString() ?? '';
      if (line.startsWith(EVENT)) type = line.slice(EVENT.length);
      if (!line.startsWith(DATA) || line.endsWith(' [DONE]')) continue;
      const read = eventIn(type, line.slice(DATA.length), previous);
      said = read.said ?? said;
      this.socket.send(read.text);
      if (this.socket.overfull) await this.socket.drained();
    }
    return said?.status === 'failed' ? undefined : said;
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

/**
 * An event as it is sent, and the response in the last one; in all that hold one, where it is to
 * say what it continues. Else a list of tools in each would be read three times.
 */
function eventIn(
  type: string,
  text: string,
  previous: string | undefined,
): { readonly text: string; readonly said?: ResponseObject } {
  const isRead = previous === undefined ? FINAL_EVENTS.has(type) : STATES.has(type);
  if (!isRead) return { text };
  const event = parseBoundedJson(text, STORED_BOUNDS) as { readonly response: ResponseObject };
  if (previous === undefined) return { text, said: event.response };
  const said = { ...event.response, previous_response_id: previous };
  return { text: writeJson({ ...event, response: said }), said };
}

/** @throws DomainError `invalid_json` */
function messageIn(text: string): Fields {
  let why = 'A message must be a JSON object.';
  try {
    const message = parseBoundedJson(text);
    if (isObject(message)) return message;
  } catch (error) {
    why = (error as Error).message;
  }
  throw new DomainError('invalid_json', why);
}

const itemsOf = (input: unknown): readonly unknown[] => {
  if (Array.isArray(input)) return input;
  return input === undefined ? [] : [{ role: 'user', content: input }];
};

const tooMany = (): DomainError =>
  new DomainError(
    'queue_full',
    `${MOST_WAITING} messages of this connection wait already: it answers one after another.`,
  );

import { Readable } from 'node:stream';
import { type FastifyReply } from 'fastify';
import { FINAL_EVENTS, type ResponseEvent } from '../../contracts/openai/responses.js';
import { SSE_DONE, sseEvent } from '../../contracts/formats/server-sent-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { GenerationOutputStream, sendEvents } from '../text/generation-output-stream.js';
import { piecesOf } from '../text/generation-pieces.js';
import { inWordsOfResponses } from './response-generation.js';
import { type FinishResponse } from './conversations.js';
import { failureOf, nowS } from './response-object.js';
import { type ResponseWriter } from './response-writer.js';

/** An event as it is streamed; the final one is followed by `[DONE]`. */
export const eventFrame = (event: ResponseEvent): string =>
  sseEvent(event.type, event) + (FINAL_EVENTS.has(event.type) ? SSE_DONE : '');

/** Sends stored events until the final one, or until the caller leaves. */
export function followEvents(
  reply: FastifyReply,
  headers: Record<string, string>,
  frames: (left: AbortSignal) => AsyncIterable<Buffer>,
): void {
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  sendEvents(reply, headers, Readable.from(frames(left.signal)));
}

/** Generated text as the events of a response. */
export class ResponseStream extends GenerationOutputStream {
  #hasBegun = false;
  #unreadable: DomainError | undefined;

  constructor(
    maxBufferedBytes: number,
    private readonly writer: ResponseWriter,
    private readonly finish: FinishResponse,
  ) {
    super(maxBufferedBytes);
  }

  protected format(json: Buffer): string {
    return [...this.#beginning(), ...this.#said(json)].map(eventFrame).join('');
  }

  protected async lastFrame(failure: DomainError | undefined): Promise<string> {
    const why = failure ?? this.#unreadable;
    const beginning = this.#beginning();
    const end = why
      ? this.writer.fail(failureOf(inWordsOfResponses(why) as DomainError))
      : await this.#end();
    return [...beginning, ...end].map(eventFrame).join('');
  }

  #said(json: Buffer): readonly ResponseEvent[] {
    if (this.#unreadable) return [];
    try {
      return piecesOf(json).flatMap(piece => this.writer.take(piece));
    } catch (cause) {
      this.#unreadable = new DomainError(
        'engine_failed',
        'The worker sent text that cannot be read.',
        { cause },
      );
      return [];
    }
  }

  #beginning(): readonly ResponseEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return this.writer.begin();
  }

  async #end(): Promise<readonly ResponseEvent[]> {
    const events = this.writer.end(nowS());
    const fields = await this.finish(this.writer.response);
    return events.map(event =>
      'response' in event
        ? { ...event, response: { ...event.response, ...fields } }
        : event,
    );
  }
}

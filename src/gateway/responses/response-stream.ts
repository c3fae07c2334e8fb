import { Readable } from 'node:stream';
import { type FastifyReply } from 'fastify';
import { FINAL_EVENTS, type ResponseEvent } from '../../contracts/openai/responses.js';
import { SSE_DONE, sseEvent } from '../../contracts/formats/server-sent-event.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { DialectStream } from '../text/dialect-stream.js';
import { sendEvents } from '../text/generation-output-stream.js';
import { type GenerationPiece } from '../text/generation-pieces.js';
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
export class ResponseStream extends DialectStream {
  constructor(
    maxBufferedBytes: number,
    private readonly writer: ResponseWriter,
    private readonly finish: FinishResponse,
  ) {
    super(maxBufferedBytes);
  }

  protected begun(): string {
    return framesOf(this.writer.begin());
  }

  protected said(piece: GenerationPiece): string {
    return framesOf(this.writer.take(piece));
  }

  protected failed(error: DomainError): string {
    return framesOf(
      this.writer.fail(failureOf(inWordsOfResponses(error) as DomainError)),
    );
  }

  protected async ended(): Promise<string> {
    const events = this.writer.end(nowS());
    const fields = await this.finish(this.writer.response);
    return framesOf(
      events.map(event =>
        'response' in event
          ? { ...event, response: { ...event.response, ...fields } }
          : event,
      ),
    );
  }
}

const framesOf = (events: readonly ResponseEvent[]): string =>
  events.map(eventFrame).join('');

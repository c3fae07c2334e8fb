import { Readable } from 'node:stream';
import { type FastifyReply } from 'fastify';
import {
  FINAL_EVENTS,
  type ResponseEvent,
  type ResponseObject,
} from '../../contracts/openai/responses.js';
import { SSE_DONE, sseEvent } from '../../contracts/formats/server-sent-event.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { sendEvents } from '../inference/output-stream.js';
import { type GenerationPiece } from '../text/generation-pieces.js';
import { type FinishResponse } from './conversations.js';
import { type ResponseWriter } from './response-writer.js';
import { type TextDialect } from '../text/text-generation.service.js';

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

/** A response that is answered at once. */
export class AnsweredResponse implements TextDialect<ResponseEvent> {
  readonly frame = eventFrame;

  constructor(
    private readonly writer: ResponseWriter,
    private readonly finish: FinishResponse,
  ) {}

  begin() {
    return this.writer.begin();
  }

  take(piece: GenerationPiece) {
    return this.writer.take(piece);
  }

  fail(error: DomainError) {
    return this.writer.fail(error);
  }

  async end(): Promise<readonly ResponseEvent[]> {
    const events = this.writer.end();
    const fields = await this.finish(this.writer.response);
    return events.map(event =>
      'response' in event
        ? { ...event, response: { ...event.response, ...fields } }
        : event,
    );
  }

  async whole() {
    const { response } = (await this.end()).at(-1) as { response: ResponseObject };
    return response;
  }
}

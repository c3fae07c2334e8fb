import { messageError } from '../../contracts/messages/message-error.js';
import { sseEvent } from '../../contracts/formats/server-sent-event.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { type WaitForecast } from '../../core/forecast/wait-forecast.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { DialectStream } from '../text/dialect-stream.js';
import { type GenerationPiece } from '../text/generation-pieces.js';
import { inWordsOf } from '../text/param-names.js';
import { PARAMS_OF_MESSAGE } from './chat-of-message.js';
import { type MessageWriter } from './message-writer.js';

/** Generated text as the events of a message. */
export class MessageStream extends DialectStream {
  constructor(
    maxBufferedBytes: number,
    private readonly writer: MessageWriter,
    private readonly requestId: string,
  ) {
    super(maxBufferedBytes);
  }

  protected begun(): string {
    return framesOf(this.writer.begin());
  }

  protected said(piece: GenerationPiece): string {
    return framesOf(this.writer.take(piece));
  }

  protected failed(why: DomainError): string {
    const error = inWordsOf(PARAMS_OF_MESSAGE, why) as DomainError;
    return framesOf([messageError(error, this.requestId)]);
  }

  protected ended(): string {
    return framesOf(this.writer.end());
  }
}

/** What a caller is told while its request waits: a comment, and an event that clients skip. */
export function waitFrame(
  view: RequestView | undefined,
  forecast: WaitForecast | undefined,
): string {
  const { state = 'queued', position } = view ?? {};
  const place = position === undefined ? '' : `, place ${position}`;
  const startMs = state === 'queued' ? forecast?.startInMs.p50 : undefined;
  const start =
    startMs === undefined ? '' : `, starts in about ${(startMs / 1000).toFixed(1)} s`;
  return `: ${state}${place}${start}\n${framesOf([{ type: 'ping' }])}`;
}

const framesOf = (events: readonly { readonly type: string }[]): string =>
  events.map(event => sseEvent(event.type, event)).join('');

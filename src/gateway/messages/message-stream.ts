import { messageError } from '../../contracts/messages/message-error.js';
import { sseEvent } from '../../contracts/formats/server-sent-event.js';
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

const framesOf = (events: readonly { readonly type: string }[]): string =>
  events.map(event => sseEvent(event.type, event)).join('');

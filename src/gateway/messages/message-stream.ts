import { messageError } from '../../contracts/messages/message-error.js';
import { sseEvent } from '../../contracts/formats/server-sent-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { GenerationOutputStream } from '../text/generation-output-stream.js';
import { piecesOf } from '../text/generation-pieces.js';
import { inWordsOf } from '../text/param-names.js';
import { PARAMS_OF_MESSAGE } from './chat-of-message.js';
import { type MessageWriter } from './message-writer.js';

/** Generated text as the events of a message. */
export class MessageStream extends GenerationOutputStream {
  #hasBegun = false;
  #unreadable: DomainError | undefined;

  constructor(
    maxBufferedBytes: number,
    private readonly writer: MessageWriter,
    private readonly requestId: string,
  ) {
    super(maxBufferedBytes);
  }

  protected format(json: Buffer): string {
    return this.#beginning() + this.#said(json);
  }

  protected lastFrame(failure: DomainError | undefined): string {
    const why = failure ?? this.#unreadable;
    if (!why) return this.#beginning() + framesOf(this.writer.end());
    const error = inWordsOf(PARAMS_OF_MESSAGE, why) as DomainError;
    return this.#beginning() + framesOf([messageError(error, this.requestId)]);
  }

  #said(json: Buffer): string {
    if (this.#unreadable) return '';
    try {
      return framesOf(piecesOf(json).flatMap(piece => this.writer.take(piece)));
    } catch (cause) {
      this.#unreadable = new DomainError(
        'engine_failed',
        'The worker sent text that cannot be read.',
        { cause },
      );
      return '';
    }
  }

  #beginning(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    return framesOf(this.writer.begin());
  }
}

const framesOf = (events: readonly { readonly type: string }[]): string =>
  events.map(event => sseEvent(event.type, event)).join('');

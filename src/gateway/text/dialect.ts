import { DomainError } from '../../core/errors/domain-error.js';
import { type OutputForm } from '../inference/output-stream.js';
import { type GenerationPiece, piecesOf } from './generation-pieces.js';

/** Another dialect than that of chat: the pieces of one generation as its events. */
export interface TextDialect<E = object> {
  readonly contentType?: string;
  begin(): readonly E[];
  take(piece: GenerationPiece): readonly E[];
  end(): readonly E[] | Promise<readonly E[]>;
  fail(error: DomainError): readonly E[];
  /** An event as it is sent. */
  frame(event: E): string;
  /** What was said, as one answer. */
  whole(): object | Promise<object>;
}

/** Generated text in another dialect than that of chat. */
export class DialectForm implements OutputForm {
  #hasBegun = false;
  #unreadable: DomainError | undefined;

  constructor(private readonly dialect: TextDialect) {}

  get contentType(): string | undefined {
    return this.dialect.contentType;
  }

  format(json: Buffer): string {
    return this.#beginning() + this.#said(json);
  }

  async lastFrame(failure: DomainError | undefined): Promise<string> {
    const why = failure ?? this.#unreadable;
    const beginning = this.#beginning();
    const last = why ? this.dialect.fail(why) : await this.dialect.end();
    return beginning + this.#frames(last);
  }

  #said(json: Buffer): string {
    if (this.#unreadable) return '';
    try {
      return this.#frames(piecesOf(json).flatMap(piece => this.dialect.take(piece)));
    } catch (cause) {
      const message = 'The worker sent text that cannot be read.';
      this.#unreadable = new DomainError('engine_failed', message, { cause });
      return '';
    }
  }

  #beginning(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    return this.#frames(this.dialect.begin());
  }

  #frames(events: readonly object[]): string {
    return events.map(event => this.dialect.frame(event)).join('');
  }
}

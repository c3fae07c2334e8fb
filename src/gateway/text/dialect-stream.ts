import { DomainError } from '../../core/errors/domain-error.js';
import { GenerationOutputStream } from './generation-output-stream.js';
import { type GenerationPiece, piecesOf } from './generation-pieces.js';

/** Generated text in another dialect than that of chat. */
export abstract class DialectStream extends GenerationOutputStream {
  #hasBegun = false;
  #unreadable: DomainError | undefined;

  protected format(json: Buffer): string {
    return this.#beginning() + this.#said(json);
  }

  protected async lastFrame(failure: DomainError | undefined): Promise<string> {
    const why = failure ?? this.#unreadable;
    return this.#beginning() + (why ? this.failed(why) : await this.ended());
  }

  protected abstract begun(): string;
  protected abstract said(piece: GenerationPiece): string;
  protected abstract failed(error: DomainError): string;
  protected abstract ended(): string | Promise<string>;

  #said(json: Buffer): string {
    if (this.#unreadable) return '';
    try {
      return piecesOf(json)
        .map(piece => this.said(piece))
        .join('');
    } catch (cause) {
      const message = 'The worker sent text that cannot be read.';
      this.#unreadable = new DomainError('engine_failed', message, { cause });
      return '';
    }
  }

  #beginning(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    return this.begun();
  }
}

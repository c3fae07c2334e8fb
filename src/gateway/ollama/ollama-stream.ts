import { type DomainError } from '../../core/errors/domain-error.js';
import { DialectStream } from '../text/dialect-stream.js';
import { type GenerationPiece } from '../text/generation-pieces.js';
import { type OllamaWriter } from './ollama-writer.js';

/** Generated text as Ollama's lines. */
export class OllamaStream extends DialectStream {
  override readonly contentType = 'application/x-ndjson';

  constructor(
    maxBufferedBytes: number,
    private readonly writer: OllamaWriter,
  ) {
    super(maxBufferedBytes);
  }

  protected begun(): string {
    return '';
  }

  protected said(piece: GenerationPiece): string {
    return linesOf(this.writer.take(piece));
  }

  protected failed({ message }: DomainError): string {
    return linesOf([{ error: message }]);
  }

  protected ended(): string {
    return linesOf(this.writer.end());
  }
}

const linesOf = (lines: readonly object[]): string =>
  lines.map(line => `${JSON.stringify(line)}\n`).join('');

import { DomainError } from '../../core/errors/domain-error.js';
import { GenerationOutputStream } from '../text/generation-output-stream.js';
import { piecesOf } from '../text/generation-pieces.js';
import { type OllamaWriter } from './ollama-writer.js';

/** Generated text as Ollama's lines. */
export class OllamaStream extends GenerationOutputStream {
  override readonly contentType = 'application/x-ndjson';
  #unreadable: DomainError | undefined;

  constructor(
    maxBufferedBytes: number,
    private readonly writer: OllamaWriter,
  ) {
    super(maxBufferedBytes);
  }

  protected format(json: Buffer): string {
    if (this.#unreadable) return '';
    try {
      return linesOf(piecesOf(json).flatMap(piece => this.writer.take(piece)));
    } catch (cause) {
      this.#unreadable = new DomainError(
        'engine_failed',
        'The worker sent text that cannot be read.',
        { cause },
      );
      return '';
    }
  }

  protected lastFrame(failure: DomainError | undefined): string {
    const why = failure ?? this.#unreadable;
    return linesOf(why ? [{ error: why.message }] : this.writer.end());
  }
}

const linesOf = (lines: readonly object[]): string =>
  lines.map(line => `${JSON.stringify(line)}\n`).join('');

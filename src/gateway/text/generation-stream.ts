import { JsonFields } from '../../contracts/formats/json-fields.js';
import {
  onOneLine,
  SSE_DONE,
  sseData,
} from '../../contracts/formats/server-sent-event.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { GenerationOutputStream } from './generation-output-stream.js';

const DATA = Buffer.from('data: ');
const END = Buffer.from('\n\n');

/**
 * Generated text as OpenAI's events: chunks, then `[DONE]`, or the error envelope if it
 * fails after the first chunk.
 */
export class GenerationStream extends GenerationOutputStream {
  readonly #fields: JsonFields;

  /** @param fields set in every chunk; the rest of a chunk is sent unchanged */
  constructor(maxBufferedBytes: number, fields: Readonly<Record<string, unknown>>) {
    super(maxBufferedBytes);
    this.#fields = new JsonFields(fields);
  }

  protected format(json: Buffer): Buffer {
    return Buffer.concat([DATA, ...this.#fields.pieces(onOneLine(json)), END]);
  }

  protected lastFrame(failure: DomainError | undefined): string {
    return failure ? sseData(errorEnvelope(failure)) : SSE_DONE;
  }
}

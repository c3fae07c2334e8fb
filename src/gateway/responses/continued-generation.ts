import { withJsonFields } from '../../contracts/formats/json-fields.js';
import { type ResponseObject } from '../../contracts/openai/responses.js';
import { type EngineName } from '../../platform/config/model-spec.js';
import { GenerationOutputStream } from '../text/generation-output-stream.js';
import { type Generation } from '../text/text-generation.service.js';

/** Engines that tell the tokens of an answer, and continue it from them. */
const CONTINUING: ReadonlySet<EngineName> = new Set(['llama-cpp', 'synthetic']);

/**
 * The rest of a response whose first part is durable, from the tokens of that part.
 * Undefined: they are not known, and text alone does not say how the engine came to it.
 */
export function restOf(
  generation: Generation,
  { output }: ResponseObject,
  tokens: readonly number[],
): Generation | undefined {
  if (output.length > 0 && tokens.length === 0) return undefined;
  if (!CONTINUING.has(generation.model.engine)) return generation;
  const fields = {
    return_token_ids: true,
    ...(tokens.length > 0 && { continue_token_ids: tokens }),
  };
  return { ...generation, body: withJsonFields(generation.body, fields) };
}

const NEWLINES = /[\r\n]+/g;

/**
 * Chunks of an answer, one per line, for a reader in this process that may hold
 * the engine back.
 */
export class ChunkLines extends GenerationOutputStream {
  /** Every piece that is read ends with a whole line. */
  async *read(): AsyncGenerator<readonly Buffer[]> {
    for await (const lines of this.body as AsyncIterable<Buffer>)
      yield lines
        .toString('utf8')
        .split('\n')
        .filter(line => line !== '')
        .map(line => Buffer.from(line));
  }

  protected format(json: Buffer): string {
    return `${json.toString('utf8').replace(NEWLINES, ' ')}\n`;
  }

  protected lastFrame(): undefined {
    return undefined;
  }
}

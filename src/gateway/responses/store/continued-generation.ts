import { type ResponseItem, type ResponseObject } from '../../../contracts/openai/responses.js';
import { type EngineName } from '../../../platform/config/model-spec.js';
import { OutputStream } from '../../inference/output-stream.js';
import { type Generation } from '../../text/text-generation.service.js';
import { type GenerationOutput } from '../../worker-pool/worker-task.js';

/** Engines that continue an answer where its text ends. */
const CONTINUING: ReadonlySet<EngineName> = new Set(['llama-cpp', 'synthetic']);

/**
 * The rest of a response whose first part is durable: the text so far is the beginning of the answer. Undefined: the
 * engine cannot continue it, or it has calls, which are not text.
 */
export function restOf(generation: Generation, { output }: ResponseObject): Generation | undefined {
  if (output.length === 0) return generation;
  const begun = textOf(output);
  if (begun === undefined || !CONTINUING.has(generation.model.engine)) return undefined;
  if (begun === '') return generation;
  const { messages, ...chat } = JSON.parse(generation.body.toString('utf8')) as { messages: readonly object[] };
  const continued = [...messages, { role: 'assistant', content: begun }];
  const body = { ...chat, messages: continued, continue_final_message: true };
  return { ...generation, body: Buffer.from(JSON.stringify(body)) };
}

function textOf(output: readonly ResponseItem[]): string | undefined {
  const [item, ...others] = output;
  if (item?.type !== 'message' || others.length > 0) return undefined;
  return item.content.map(part => ('text' in part ? part.text : '')).join('');
}

const NEWLINES = /[\r\n]+/g;

/** Chunks of an answer, one per line, for a reader in this process that may hold the engine back. */
export class ChunkLines extends OutputStream implements GenerationOutput {
  readonly chunks = this.body;

  begin(): void {
    // Nothing to prepare. The scheduler notes it: this request is not sent again.
  }

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

import { setImmediate as nextTurn } from 'node:timers/promises';

export interface EmbeddingBody {
  /** 32-bit floats, little endian, one vector after another. */
  readonly vectors: Buffer;
  readonly dimensions: number;
  readonly encoding: 'float' | 'base64';
  readonly model: string;
  readonly promptTokens: number;
}

const FLOAT_BYTES = 4;
/** Written in one turn of the event loop; then others have theirs. */
const VECTORS_PER_TURN = 16;

/**
 * OpenAI's list of vectors as JSON, piece by piece: two thousand vectors are fifty
 * megabytes of digits.
 */
export async function* embeddingBody(body: EmbeddingBody): AsyncGenerator<string> {
  const { vectors, dimensions, encoding, model, promptTokens } = body;
  const bytes = dimensions * FLOAT_BYTES;
  const count = bytes === 0 ? 0 : vectors.length / bytes;
  yield '{"object":"list","data":[';
  for (let index = 0; index < count; index++) {
    if (index > 0 && index % VECTORS_PER_TURN === 0) await nextTurn();
    const vector = vectors.subarray(index * bytes, (index + 1) * bytes);
    const written =
      encoding === 'base64'
        ? `"${vector.toString('base64')}"`
        : `[${numbersOf(vector).join(',')}]`;
    yield `${index > 0 ? ',' : ''}{"object":"embedding","index":${index},"embedding":${written}}`;
  }
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  yield `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
}

function numbersOf(vector: Buffer): string[] {
  const numbers: string[] = [];
  for (let at = 0; at < vector.length; at += FLOAT_BYTES)
    numbers.push(shortest(vector.readFloatLE(at)));
  return numbers;
}

/** The fewest digits that still name this 32-bit number: 0.1, not 0.10000000149011612. */
function shortest(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  for (const digits of [7, 8]) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

import { invalidValue } from '@switchyard/engine-api/coded-error.js';
import { type LlamaOperations } from './protocol.js';

/** What a model's tokens say, as bytes: a token may be part of a character. */
export class Vocabulary {
  readonly #bytes: Buffer;
  readonly #ends: Uint32Array;
  readonly #endTokens: ReadonlySet<number>;

  constructor({ bytes, ends, endTokens }: ReturnType<LlamaOperations['vocabulary']>) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#ends = ends;
    this.#endTokens = new Set(endTokens);
  }

  get size(): number {
    return this.#ends.length;
  }

  /** Checks that the model has these tokens. @throws EngineError `invalid_value` */
  checked(tokens: readonly number[], param: string): readonly number[] {
    const stranger = tokens.find(
      token => !Number.isInteger(token) || token < 0 || token >= this.size,
    );
    if (stranger === undefined) return tokens;
    throw invalidValue(
      `\`${param}\`: token ${stranger} is not one of the model's, 0 to ${this.size - 1}.`,
      param,
    );
  }

  /** Bytes of a token, as a view; empty for control tokens. */
  bytesOf(token: number): Buffer {
    return this.#bytes.subarray(token === 0 ? 0 : this.#ends[token - 1], this.#ends[token]);
  }

  /** Whether this token ends an answer. */
  isEnd(token: number): boolean {
    return this.#endTokens.has(token);
  }
}

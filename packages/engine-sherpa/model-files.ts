import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { readOnnxMetadata } from './onnx-file.js';

/** Folder made beside a model once: what sherpa-onnx reads, of what others publish. */
export const PREPARED = '.sherpa-onnx';

/** The files in the folder of one model. */
export class ModelFolder {
  private constructor(
    readonly path: string,
    private readonly names: readonly string[],
    private readonly precision: 'int8' | 'float32',
  ) {}

  /** @throws Error that names the folder. */
  static open(path: string, precision: ModelFolder['precision']): ModelFolder {
    try {
      return new ModelFolder(path, readdirSync(path).sort(), precision);
    } catch (cause) {
      const reason = errorMessage(cause);
      throw new Error(
        `options.modelDir '${path}' cannot be read (${reason}). Put the files of one sherpa-onnx model there.`,
        { cause },
      );
    }
  }

  /** Path of a file or folder with that name; undefined: there is none. */
  named(...names: readonly string[]): string | undefined {
    const found = names.find(name => this.names.includes(name));
    return found === undefined ? undefined : join(this.path, found);
  }

  /**
   * The .onnx file whose name contains the word, in the precision that was asked for
   * where there are both.
   * @throws as `readOnnxMetadata`
   */
  model(word: string, without?: RegExp): string | undefined {
    const fitting = this.#models.filter(name => name.includes(word) && !without?.test(name));
    const wanted = fitting.find(name => name.includes('int8') === (this.precision === 'int8'));
    const found = wanted ?? fitting[0];
    if (found === undefined) return undefined;
    const path = join(this.path, found);
    readOnnxMetadata(path);
    return path;
  }

  /** `tokens.txt`, or Whisper's `tiny-tokens.txt`. */
  get tokens(): string | undefined {
    const found = this.names.find(name => name.endsWith('tokens.txt'));
    return found === undefined ? undefined : join(this.path, found);
  }

  get listing(): string {
    return this.names.length === 0 ? 'nothing' : this.names.join(', ');
  }

  /** @throws Error that says what is missing, and what is there */
  required(what: string, file: string | undefined): string {
    if (file !== undefined) return file;
    throw new Error(`${what} is missing in '${this.path}'; there: ${this.listing}.`);
  }

  /**
   * Name and fingerprint: names, sizes and both ends of all model files. Weights
   * may be gigabytes.
   */
  async revision(): Promise<string> {
    const hash = createHash('sha256');
    for (const name of this.#weights) hash.update(name).update(await ends(join(this.path, name)));
    return `${basename(this.path)} sha256:${hash.digest('hex').slice(0, 12)}`;
  }

  get #weights(): readonly string[] {
    return this.names.filter(name => /\.(onnx|ort)$/.test(name));
  }

  get #models(): readonly string[] {
    return this.names.filter(name => name.endsWith('.onnx'));
  }
}

const END_BYTES = 65_536;

async function ends(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { size } = await file.stat();
  const from = async (position: number): Promise<Buffer> =>
    (await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, position)).buffer;
  const tail = Math.max(0, size - END_BYTES);
  return Buffer.concat([Buffer.from(String(size)), await from(0), await from(tail)]);
}

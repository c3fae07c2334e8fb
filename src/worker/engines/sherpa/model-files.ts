import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorMessage } from '../../../core/shared/error-message.js';

/** Fields of ONNX's ModelProto and StringStringEntryProto. */
const METADATA_PROPS = 14;
const KEY = 1;
const VALUE = 2;
const LENGTH_DELIMITED = 2;
/** Longer than any entry that names a model; some models carry whole vocabularies beside them. */
const LONGEST_ENTRY = 4096;

/**
 * The metadata of an .onnx file: what exporters say a model is. Weights are skipped, not read. Empty for what is no
 * ONNX file.
 */
export async function readOnnxMetadata(path: string): Promise<ReadonlyMap<string, string>> {
  const file = await open(path);
  try {
    return await entriesOf(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

async function entriesOf(file: FileHandle, size: number): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  for (let at = 0; at < size;) {
    const head = await read(file, at, 20);
    const tag = varint(head, 0);
    const length = varint(head, tag.next);
    if (!tag.complete || !length.complete) break;
    const wireType = tag.value % 8;
    // ModelProto has numbers and length-delimited fields only.
    if (wireType !== LENGTH_DELIMITED && wireType !== 0) break;
    at += length.next;
    if (wireType === 0) continue;
    if (Math.floor(tag.value / 8) === METADATA_PROPS && length.value <= LONGEST_ENTRY) {
      const [key, value] = entry(await read(file, at, length.value));
      entries.set(key, value);
    }
    at += length.value;
  }
  return entries;
}

async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

function entry(bytes: Buffer): [key: string, value: string] {
  const fields = ['', '', ''];
  for (let at = 0; at < bytes.length;) {
    const tag = varint(bytes, at);
    const length = varint(bytes, tag.next);
    fields[Math.floor(tag.value / 8)] = bytes.toString('utf8', length.next, length.next + length.value);
    at = length.next + length.value;
  }
  return [fields[KEY] ?? '', fields[VALUE] ?? ''];
}

/** Sums, not shifts: lengths pass 2 GB. */
function varint(bytes: Buffer, from: number): { value: number; next: number; complete: boolean } {
  let value = 0;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[from + i];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { value, next: from + i + 1, complete: true };
  }
  return { value, next: bytes.length, complete: false };
}

export type Precision = 'int8' | 'float32';

/** What lies in the folder of one model. */
export class ModelFolder {
  private constructor(
    readonly path: string,
    private readonly names: readonly string[],
    private readonly precision: Precision,
  ) {}

  /** @throws Error that names the folder. */
  static async open(path: string, precision: Precision): Promise<ModelFolder> {
    try {
      return new ModelFolder(path, (await readdir(path)).sort(), precision);
    } catch (cause) {
      const reason = errorMessage(cause);
      throw new Error(
        `options.modelDir '${path}' cannot be read (${reason}). Put the files of one sherpa-onnx model there.`,
        {
          cause,
        },
      );
    }
  }

  /** Path of a file or folder with that name; undefined: there is none. */
  named(...names: readonly string[]): string | undefined {
    const found = names.find(name => this.names.includes(name));
    return found === undefined ? undefined : join(this.path, found);
  }

  /** The .onnx file whose name contains the word, in the precision that was asked for where there are both. */
  model(word: string, without?: RegExp): string | undefined {
    const fitting = this.#models.filter(name => name.includes(word) && !without?.test(name));
    const wanted = fitting.find(name => name.includes('int8') === (this.precision === 'int8'));
    const found = wanted ?? fitting[0];
    return found === undefined ? undefined : join(this.path, found);
  }

  /** `tokens.txt`, or Whisper's `tiny-tokens.txt`. */
  get tokens(): string | undefined {
    const found = this.names.find(name => name.endsWith('tokens.txt'));
    return found === undefined ? undefined : join(this.path, found);
  }

  get listing(): string {
    return this.names.length === 0 ? 'nothing' : this.names.join(', ');
  }

  /** Name and fingerprint: names, sizes and both ends of all model files. Weights may be gigabytes. */
  async revision(): Promise<string> {
    const hash = createHash('sha256');
    for (const name of this.#models) hash.update(name).update(await ends(join(this.path, name)));
    return `${basename(this.path)} sha256:${hash.digest('hex').slice(0, 12)}`;
  }

  get #models(): readonly string[] {
    return this.names.filter(name => name.endsWith('.onnx'));
  }
}

const END_BYTES = 65_536;

async function ends(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const head = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, 0);
    const tail = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, Math.max(0, size - END_BYTES));
    return Buffer.concat([Buffer.from(String(size)), head.buffer, tail.buffer]);
  } finally {
    await file.close();
  }
}

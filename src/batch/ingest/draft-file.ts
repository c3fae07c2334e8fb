import { type FileHandle, open, rename } from 'node:fs/promises';

const FLUSH_BYTES = 262_144;

/** A file that appears under its name when it is whole and durable. */
export class DraftFile {
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  private constructor(
    private readonly path: string,
    private readonly draft: string,
    private readonly file: FileHandle,
  ) {}

  /** @param writer makes the draft's name its own: a processor that lost the job may still be writing another. */
  static async create(path: string, writer: string): Promise<DraftFile> {
    const draft = `${path}.${writer}.tmp`;
    return new DraftFile(path, draft, await open(draft, 'w', 0o600));
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#held.push(chunk);
    this.#heldBytes += chunk.byteLength;
    if (this.#heldBytes >= FLUSH_BYTES) await this.#flush();
  }

  /** The name is taken from here on. */
  async commit(): Promise<void> {
    try {
      await this.#flush();
      await this.file.sync();
    } finally {
      await this.file.close();
    }
    await rename(this.draft, this.path);
  }

  async discard(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const chunks = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    if (chunks.length > 0) await writeAll(this.file, chunks);
  }
}

/** One `writev` may take less than it was given. @returns bytes written. */
export async function writeAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<number> {
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  for (let at = 0; at < bytes.byteLength;) at += (await file.write(bytes, at)).bytesWritten;
  return bytes.byteLength;
}

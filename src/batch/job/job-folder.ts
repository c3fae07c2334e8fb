import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

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

/** The work folder of one batch: everything a processor on the same data folder needs to go on with it. */
export class JobFolder {
  readonly path: string;

  /** @param jobsFolder `<data.dir>/jobs` */
  constructor(
    jobsFolder: string,
    readonly jobId: string,
  ) {
    this.path = join(jobsFolder, jobId);
  }

  /** Whose job this is, for the clean-up after one that ended elsewhere. */
  readonly owner = (): string => join(this.path, 'owner.json');
  readonly input = (): string => join(this.path, 'input.jsonl');
  readonly modelMap = (): string => join(this.path, 'model_map.json');
  /** Output lines of input lines that cannot be sent, under lenient validation. */
  readonly rejected = (): string => join(this.path, 'rejected.jsonl');
  readonly plan = (safeName: string): string => join(this.path, 'plans', `${safeName}.plan`);
  readonly results = (): string => join(this.path, 'results');

  async make(): Promise<void> {
    await mkdir(join(this.path, 'plans'), { recursive: true, mode: 0o700 });
    await mkdir(this.results(), { recursive: true, mode: 0o700 });
  }

  /** Ingestion is to be done again; results stay, since plans come out the same. */
  async forgetInput(): Promise<void> {
    await rm(this.modelMap(), { force: true });
    await rm(this.input(), { force: true });
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/** Whole or absent, also after a power cut: written beside, synced, renamed. The draft's name is the writer's own. */
export async function writeWhole(path: string, bytes: string | Uint8Array): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** A new or renamed entry is durable once its folder is. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

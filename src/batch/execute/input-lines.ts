import { type FileHandle, open } from 'node:fs/promises';
import { type PlanEntry } from '../../core/jobs/plan-entry.js';

/** The copy of the input file is not what its plan says: somebody changed it, or the disk lost it. It is fetched and read anew. */
export class InputDamaged extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InputDamaged';
  }
}

/** Positional reads of the input file: many lines at the same time, in any order, none kept. */
export class InputLines {
  private constructor(private readonly file: FileHandle) {}

  static async open(path: string): Promise<InputLines> {
    return new InputLines(await open(path, 'r'));
  }

  /** @throws InputDamaged */
  async read({ offset, length }: PlanEntry): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length;) {
      const { bytesRead } = await this.file.read(bytes, at, length - at, offset + at);
      if (bytesRead === 0) throw new InputDamaged(`The input file ends before byte ${offset + length}.`);
      at += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

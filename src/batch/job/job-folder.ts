import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The work folder of one batch: everything that a processor on the same data folder needs
 * to continue it.
 */
export class JobFolder {
  readonly path: string;

  /** @param jobsFolder `<data.dir>/jobs` */
  constructor(
    jobsFolder: string,
    readonly jobId: string,
  ) {
    this.path = join(jobsFolder, jobId);
  }

  /** Tenant and id of the job, for the clean-up at start. */
  readonly owner = (): string => join(this.path, 'owner.json');
  readonly input = (): string => join(this.path, 'input.jsonl');
  readonly modelMap = (): string => join(this.path, 'model_map.json');
  /** Error lines of invalid input lines (lenient validation). */
  readonly rejected = (): string => join(this.path, 'rejected.jsonl');
  readonly plan = (safeName: string): string =>
    join(this.path, 'plans', `${safeName}.plan`);
  readonly results = (): string => join(this.path, 'results');

  async make(): Promise<void> {
    await mkdir(join(this.path, 'plans'), { recursive: true, mode: 0o700 });
    await mkdir(this.results(), { recursive: true, mode: 0o700 });
  }

  /**
   * Removes the result of ingestion. Results stay: ingesting again gives the same plans.
   */
  async removeInput(): Promise<void> {
    await rm(this.modelMap(), { force: true });
    await rm(this.input(), { force: true });
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/**
 * Writes a file atomically, also across a power cut: a draft is written,
 * synced and renamed.
 */
export async function writeAtomically(
  path: string,
  bytes: string | Uint8Array,
): Promise<void> {
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

import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The work folder of one batch: everything that a processor on the same data folder needs
 * to continue it.
 */
export class JobFolder {
  readonly path: string;
  /** Tenant and id of the job, for the clean-up at start. */
  readonly owner: string;
  readonly input: string;
  readonly modelMap: string;
  /** Error lines of invalid input lines (lenient validation). */
  readonly rejected: string;
  readonly plans: string;
  readonly results: string;

  /** @param jobsFolder the folder of all jobs, `<data.dir>/jobs` */
  constructor(jobsFolder: string, jobId: string) {
    const pathOf = (...names: string[]) => join(jobsFolder, jobId, ...names);
    this.path = pathOf();
    this.owner = pathOf('owner.json');
    this.input = pathOf('input.jsonl');
    this.modelMap = pathOf('model_map.json');
    this.rejected = pathOf('rejected.jsonl');
    this.plans = pathOf('plans');
    this.results = pathOf('results');
  }

  async make(): Promise<void> {
    await mkdir(this.plans, { recursive: true, mode: 0o700 });
    await mkdir(this.results, { recursive: true, mode: 0o700 });
  }

  /**
   * Removes the result of ingestion. Results stay: ingesting again gives the same plans.
   */
  async removeInput(): Promise<void> {
    await rm(this.modelMap, { force: true });
    await rm(this.input, { force: true });
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/**
 * Writes a file atomically, also across a power cut: a draft is written,
 * synced and renamed.
 */
export async function writeAtomically(path: string, bytes: string | Uint8Array): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  await writeFile(draft, bytes, { mode: 0o600, flush: true });
  await rename(draft, path);
}

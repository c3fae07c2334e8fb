import { readdir, readFile } from 'node:fs/promises';
import { Logger } from '@nestjs/common';
import { isAbsent } from '../../platform/storage/durable-files.js';
import { JobFolder } from '../job/job-folder.js';
import { type JobStore } from '../../platform/database/job-store.js';

/**
 * Removes work folders of jobs that ended on another processor or no longer exist.
 * Folders of unfinished jobs stay: the next claim continues from them.
 * @param jobs `<data.dir>/jobs`
 * @returns the status of each folder's job, and the action taken
 */
export async function sweepLeftovers(
  jobs: string,
  store: JobStore,
): Promise<readonly { status: string; action: 'kept' | 'cleaned_up' }[]> {
  const found: { status: string; action: 'kept' | 'cleaned_up' }[] = [];
  const names = await namesIn(jobs);
  // By id, since the folder of a batch that is just being ingested has no
  // owner file yet.
  const unfinished = await store.unfinishedAmong(names);
  for (const id of names) {
    const folder = new JobFolder(jobs, id);
    const status = (await statusOf(folder, store)) ?? 'unknown';
    const hasEnded = !unfinished.has(id);
    if (hasEnded) await folder.remove();
    found.push({ status, action: hasEnded ? 'cleaned_up' : 'kept' });
  }
  if (found.length > 0)
    new Logger('BatchRecovery').log(
      { folders: found.length },
      'checked work folders of earlier processors',
    );
  return found;
}

/** @returns undefined if there is no such job or no owner file */
async function statusOf(folder: JobFolder, store: JobStore) {
  try {
    const { tenant, id } = JSON.parse(await readFile(folder.owner(), 'utf8')) as {
      tenant: string;
      id: string;
    };
    return (await store.find(tenant, id))?.status;
  } catch (error) {
    if (isAbsent(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

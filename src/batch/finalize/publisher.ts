import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { type ResultLog } from '../execute/result-log.js';
import { type ResultKind } from '../execute/result-record.js';
import { isAbsent, type JobFolder, writeWhole } from '../job-folder.js';
import { type JobLease } from '../lease/job-lease.js';
import { ResultFiles } from './result-files.js';

export interface Published {
  readonly outputFileId?: string;
  readonly errorFileId?: string;
}

export interface Publication {
  readonly lease: JobLease;
  readonly folder: JobFolder;
  readonly log: ResultLog;
}

/**
 * Chosen once per claim, and anew when they are old: a processor that lost the job writes under other names than the one that
 * has it, and nothing is named that garbage collection may be removing.
 */
interface Ids {
  readonly epoch: number;
  readonly output: string;
  readonly error: string;
}

const CHUNK_BYTES = 262_144;

/** Streams the result log into the two files of a batch. A file without lines is not made. */
@Injectable()
export class Publisher {
  constructor(private readonly files: ResultFiles) {}

  /** Doing it again after a failure or a crash makes no second file. @throws when a store fails */
  async publish(publication: Publication): Promise<Published> {
    const { lease, log } = publication;
    const { job } = lease;
    const ids = await this.#ids(publication);
    const { completed, failed } = log.progress.counts;
    const save = async (name: 'output' | 'error', kind: ResultKind): Promise<string> => {
      const filename = `${job.id}_${name}.jsonl`;
      const open = (): AsyncIterable<Uint8Array> => chunked(log.lines(kind));
      const assertHeld = (): void => lease.assertHeld();
      return (await this.files.save(job, { id: ids[name], filename, open, assertHeld })).id;
    };
    return {
      ...(completed > 0 ? { outputFileId: await save('output', 'O') } : {}),
      ...(failed > 0 ? { errorFileId: await save('error', 'E') } : {}),
    };
  }

  async #ids({ folder, lease: { job, epoch } }: Publication): Promise<Ids> {
    const known = await readIds(folder);
    if (known?.epoch === epoch && this.files.isInTime(known.output)) return known;
    if (known) await this.files.discard(job, [known.output, known.error]);
    const ids: Ids = { epoch, output: this.files.newId(), error: this.files.newId() };
    await writeWhole(folder.publication(), JSON.stringify(ids));
    return ids;
  }
}

async function readIds(folder: JobFolder): Promise<Ids | undefined> {
  try {
    return JSON.parse(await readFile(folder.publication(), 'utf8')) as Ids;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** Many small lines as few chunks. */
async function* chunked(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const line of lines) {
    held.push(line);
    bytes += line.length;
    if (bytes < CHUNK_BYTES) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

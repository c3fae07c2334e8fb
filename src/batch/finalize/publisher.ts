import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type ResultLog } from '../execute/result-log.js';
import { type ResultKind } from '../execute/result-record.js';
import { isAbsent, type JobFolder, writeWhole } from '../job-folder.js';
import { ResultFiles } from './result-files.js';

export interface Published {
  readonly outputFileId?: string;
  readonly errorFileId?: string;
}

type Ids = Readonly<Record<'output' | 'error', string>>;

const CHUNK_BYTES = 262_144;

/** Streams the result log into the two files of a batch. A file without lines is not made. */
@Injectable()
export class Publisher {
  constructor(private readonly files: ResultFiles) {}

  /** Doing it again after a failure or a crash makes no second file. @throws when a store fails */
  async publish(job: BatchJob, log: ResultLog, folder: JobFolder): Promise<Published> {
    const ids = await this.#ids(folder);
    const { completed, failed } = log.progress.counts;
    const save = async (name: keyof Ids, kind: ResultKind): Promise<string> => {
      const filename = `${job.id}_${name}.jsonl`;
      return (await this.files.save(job, { id: ids[name], filename, open: () => chunked(log.lines(kind)) })).id;
    };
    return {
      ...(completed > 0 ? { outputFileId: await save('output', 'O') } : {}),
      ...(failed > 0 ? { errorFileId: await save('error', 'E') } : {}),
    };
  }

  async #ids(folder: JobFolder): Promise<Ids> {
    try {
      return JSON.parse(await readFile(folder.publication(), 'utf8')) as Ids;
    } catch (error) {
      if (!isAbsent(error)) throw error;
    }
    const ids: Ids = { output: this.files.newId(), error: this.files.newId() };
    await writeWhole(folder.publication(), JSON.stringify(ids));
    return ids;
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

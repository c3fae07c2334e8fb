import { Injectable } from '@nestjs/common';
import { type BatchJob, isSpeech } from '../../core/jobs/batch-job.js';
import { type ResultLog } from '../job/result-log.js';
import { type ResultKind } from '../job/result-segments.js';
import { type JobLease } from '../lease/job-lease.js';
import { ResultFiles } from '../job/result-files.js';

type Published = Pick<BatchJob, 'outputFileId' | 'errorFileId'>;

const CHUNK_BYTES = 262_144;

/**
 * Streams the result log into the output and the error file of a batch. A file without
 * lines is not created.
 */
@Injectable()
export class Publisher {
  /**
   * Chosen once per claim, and again when they are old: garbage collection may remove
   * bytes under an old id.
   */
  readonly #ids = new WeakMap<JobLease, Record<'output' | 'error', string>>();

  constructor(private readonly files: ResultFiles) {}

  /** Idempotent, also after a crash. @throws LeaseLost, or when a store fails */
  async publish(lease: JobLease, log: ResultLog): Promise<Published> {
    const { job } = lease;
    const ids = this.#idsOf(lease);
    const { completed, failed } = log.progress.counts;
    const save = async (name: 'output' | 'error', kind: ResultKind): Promise<string> => {
      const filename = `${job.id}_${name}.jsonl`;
      const open = (): AsyncIterable<Uint8Array> => chunked(log.lines(kind));
      return (await this.files.save(lease, filename, open, ids[name])).id;
    };
    const published = {
      ...(completed > 0 && { outputFileId: await save('output', 'O') }),
      ...(failed > 0 && { errorFileId: await save('error', 'E') }),
    };
    const named = new Set([
      ...Object.values(published),
      ...(await audioFilesOf(job, log)),
    ]);
    await this.files.removeAllBut(id => named.has(id), lease);
    return published;
  }

  /** The result files of this claim that are durable. */
  async stored(lease: JobLease): Promise<Published> {
    const ids = this.#ids.get(lease);
    if (!ids) return {};
    return {
      ...((await this.files.isStored(lease, ids.output)) && { outputFileId: ids.output }),
      ...((await this.files.isStored(lease, ids.error)) && { errorFileId: ids.error }),
    };
  }

  #idsOf(lease: JobLease) {
    const known = this.#ids.get(lease);
    if (known && this.files.isFresh(known.output)) return known;
    const ids = { output: this.files.newId(), error: this.files.newId() };
    this.#ids.set(lease, ids);
    return ids;
  }
}

/** Audio files that lines of the output file name. */
async function audioFilesOf(job: BatchJob, log: ResultLog): Promise<string[]> {
  if (!isSpeech(job)) return [];
  const ids: string[] = [];
  for await (const line of log.lines('O')) {
    const { response } = JSON.parse(line.toString()) as {
      response: { body: { file_id?: string } };
    };
    if (response.body.file_id !== undefined) ids.push(response.body.file_id);
  }
  return ids;
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

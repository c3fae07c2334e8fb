import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type BatchDto } from '../contracts/openai/batch.dto.js';
import { launchDirectory } from '../platform/config/launch-directory.js';
import { type BatchClient } from './batch-client.js';
import { CliError } from './cli-error.js';
import { MARKS, print, say } from './terminal.js';

/**
 * Writes the result files of a batch, `PREFIX_output.jsonl` and `PREFIX_errors.jsonl`, whichever there are; the names go to
 * stdout. @throws CliError when there is neither
 */
export async function download(client: BatchClient, batch: BatchDto, prefix = batch.id): Promise<void> {
  const wanted = [
    { id: batch.output_file_id, path: `${prefix}_output.jsonl` },
    { id: batch.error_file_id, path: `${prefix}_errors.jsonl` },
  ].filter((file): file is { id: string; path: string } => file.id !== null);
  if (wanted.length === 0) throw new CliError(`${batch.id} is ${batch.status} and has no result files`);
  for (const { id, path } of wanted) {
    await save(await client.content(id), resolve(launchDirectory(), path));
    print(path);
  }
}

/** Whole or not at all. */
async function save(response: Response, path: string): Promise<void> {
  const draft = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(response.body!), createWriteStream(draft));
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** How it ended, and of a failed one why. */
export function tellEnd({ id, status, request_counts: counts, errors }: BatchDto): void {
  const mark = status !== 'completed' ? MARKS.fail : counts.failed > 0 ? MARKS.warn : MARKS.ok;
  say(`${mark} ${id} ${status}: ${counts.completed} of ${counts.total} done, ${counts.failed} failed`);
  for (const { line, code, message } of errors?.data ?? [])
    say(`  ${line === null ? '' : `line ${line}: `}${message} [${code}]`);
}

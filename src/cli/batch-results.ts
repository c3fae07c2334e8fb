import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isTerminal } from '../core/jobs/batch-status.js';
import { writablePath } from './shared/arguments.js';
import { CliError } from './shared/cli-error.js';
import { type GatewayAnswer, type GatewayClient } from './shared/gateway-client.js';
import { MARKS, print, printJson, say } from './shared/terminal.js';

export type Batch = GatewayAnswer<'/v1/batches/{id}'>;

export const hasEnded = ({ status }: Batch): boolean => isTerminal(status);

/**
 * Writes the result files of a batch, `PREFIX_output.jsonl` and `PREFIX_errors.jsonl`,
 * whichever there are.
 * @returns their names. @throws CliError when there is neither
 */
export async function download(
  client: GatewayClient,
  batch: Batch,
  prefix = batch.id,
): Promise<readonly string[]> {
  const files = [];
  for (const [id, path] of [
    [batch.output_file_id, `${prefix}_output.jsonl`],
    [batch.error_file_id, `${prefix}_errors.jsonl`],
  ] as const) {
    if (id === null) continue;
    const target = await writablePath(path);
    await save(await client.request('get', '/v1/files/{id}/content', { id }), target);
    files.push(path);
  }
  if (files.length > 0) return files;
  throw new CliError(`${batch.id} is ${batch.status} and has no result files`);
}

/** The names of the files that were written; with `--json`, the batch with them. */
export function printResults(
  batch: Batch,
  files: readonly string[],
  json: boolean | undefined,
): void {
  if (json) printJson({ batch, files });
  else if (files.length > 0) print(files.join('\n'));
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

/** @throws CliError unless the batch completed and every line was answered */
export function assertAnswered({ id, status, request_counts: counts }: Batch): void {
  if (status !== 'completed' || counts.completed < counts.total)
    throw new CliError(`${id}: not every line was answered`);
}

/** Reports how a batch ended, with the errors of one that failed. */
export function reportEnd({ id, status, request_counts: counts, errors }: Batch): void {
  const done = counts.failed > 0 ? MARKS.warn : MARKS.ok;
  say(
    `${status === 'completed' ? done : MARKS.fail} ${id} ${status}: ${counts.completed} of ${counts.total} done, ${counts.failed} failed`,
  );
  for (const { line, code, message } of errors?.data ?? [])
    say(`  ${line === null ? '' : `line ${line}: `}${message} [${code}]`);
}

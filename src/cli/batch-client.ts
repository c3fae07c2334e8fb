import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type BatchDto } from '../contracts/openai/batch.dto.js';
import { type FileDto } from '../contracts/openai/file.dto.js';
import { isTerminal } from '../core/jobs/batch-status.js';
import { fileBlob, writablePath } from './shared/arguments.js';
import { CliError } from './shared/cli-error.js';
import { type GatewayClient } from './shared/gateway-client.js';
import { MARKS, print, printJson, say } from './shared/terminal.js';

const JSON_TYPE = { 'content-type': 'application/json' };

/** Files and batches of a running gateway. */
export class BatchClient {
  constructor(
    private readonly gateway: GatewayClient,
    private readonly signal?: AbortSignal,
  ) {}

  /** @throws CliError when the file cannot be read, or is refused */
  async upload(file: string): Promise<FileDto> {
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', await fileBlob(file), basename(file));
    return this.gateway.json('/v1/files', {
      method: 'POST',
      body: form,
      ...this.#abort(),
    });
  }

  create(params: Readonly<Record<string, unknown>>): Promise<BatchDto> {
    const request = {
      method: 'POST',
      body: JSON.stringify(params),
      headers: JSON_TYPE,
    } as const;
    return this.gateway.json('/v1/batches', { ...request, ...this.#abort() });
  }

  find(id: string): Promise<BatchDto> {
    return this.gateway.json(`/v1/batches/${encodeURIComponent(id)}`, this.#abort());
  }

  content(fileId: string): Promise<Response> {
    return this.gateway.request(`/v1/files/${fileId}/content`, this.#abort());
  }

  #abort(): { signal?: AbortSignal } {
    return this.signal ? { signal: this.signal } : {};
  }
}

export const hasEnded = ({ status }: BatchDto): boolean => isTerminal(status);

/**
 * Writes the result files of a batch, `PREFIX_output.jsonl` and `PREFIX_errors.jsonl`,
 * whichever there are.
 * @returns their names. @throws CliError when there is neither
 */
export async function download(
  client: BatchClient,
  batch: BatchDto,
  prefix = batch.id,
): Promise<readonly string[]> {
  const wanted = [
    { id: batch.output_file_id, path: `${prefix}_output.jsonl` },
    { id: batch.error_file_id, path: `${prefix}_errors.jsonl` },
  ].filter((file): file is { id: string; path: string } => file.id !== null);
  if (wanted.length === 0)
    throw new CliError(`${batch.id} is ${batch.status} and has no result files`);
  for (const { id, path } of wanted) {
    const target = await writablePath(path);
    await save(await client.content(id), target);
  }
  return wanted.map(({ path }) => path);
}

/** The names of the files that were written; with `--json`, the batch with them. */
export function printResults(
  batch: BatchDto,
  files: readonly string[],
  { json }: { readonly json?: boolean },
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
export function assertAnswered({
  id,
  status,
  request_counts: { total, completed },
}: BatchDto): void {
  if (status !== 'completed' || completed < total)
    throw new CliError(`${id}: not every line was answered`);
}

/** Reports how a batch ended, with the errors of one that failed. */
export function reportEnd({
  id,
  status,
  request_counts: counts,
  errors,
}: BatchDto): void {
  const mark =
    status !== 'completed' ? MARKS.fail : counts.failed > 0 ? MARKS.warn : MARKS.ok;
  say(
    `${mark} ${id} ${status}: ${counts.completed} of ${counts.total} done, ${counts.failed} failed`,
  );
  for (const { line, code, message } of errors?.data ?? [])
    say(`  ${line === null ? '' : `line ${line}: `}${message} [${code}]`);
}

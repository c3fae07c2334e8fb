import { constants, openAsBlob } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { type BatchDto, type BatchListDto } from '../contracts/openai/batch.dto.js';
import { type FileDto } from '../contracts/openai/file.dto.js';
import { isTerminal } from '../core/jobs/batch-status.js';
import { launchDirectory } from '../platform/config/launch-directory.js';
import { CliError, EXIT } from './cli-error.js';
import { type GatewayClient } from './gateway-client.js';

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
    form.set('file', await this.#open(file), basename(file));
    return this.gateway.json('/v1/files', { method: 'POST', body: form, ...this.#abort() });
  }

  create(order: Readonly<Record<string, unknown>>): Promise<BatchDto> {
    const request = { method: 'POST', body: JSON.stringify(order), headers: JSON_TYPE } as const;
    return this.gateway.json('/v1/batches', { ...request, ...this.#abort() });
  }

  find(id: string): Promise<BatchDto> {
    return this.gateway.json(`/v1/batches/${encodeURIComponent(id)}`, this.#abort());
  }

  list(limit: number): Promise<BatchListDto> {
    return this.gateway.json(`/v1/batches?limit=${limit}`, this.#abort());
  }

  act(id: string, verb: 'cancel' | 'retry-failed'): Promise<BatchDto> {
    return this.gateway.json(`/v1/batches/${encodeURIComponent(id)}/${verb}`, { method: 'POST', ...this.#abort() });
  }

  content(fileId: string): Promise<Response> {
    return this.gateway.request(`/v1/files/${fileId}/content`, this.#abort());
  }

  async #open(file: string): Promise<Blob> {
    return openAsBlob(await readablePath(file));
  }

  #abort(): { signal?: AbortSignal } {
    return this.signal ? { signal: this.signal } : {};
  }
}

export const hasEnded = ({ status }: BatchDto): boolean => isTerminal(status);

/** Of a file that the user named. @throws CliError when it cannot be read: `openAsBlob` does not say what is wrong */
export async function readablePath(file: string): Promise<string> {
  const path = resolve(launchDirectory(), file);
  try {
    await access(path, constants.R_OK);
    return path;
  } catch (cause) {
    throw new CliError(`${file} cannot be read: ${(cause as Error).message}`, EXIT.usage, { cause });
  }
}

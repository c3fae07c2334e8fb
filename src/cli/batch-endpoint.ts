import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { BATCH_ENDPOINTS, type BatchEndpoint } from '../core/jobs/batch-job.js';
import { readablePath } from './batch-client.js';
import { CliError, EXIT } from './cli-error.js';

/** Where the lines of a file go, as its first one says: all of them must say the same. @throws CliError when it says nothing */
export async function endpointIn(file: string): Promise<BatchEndpoint> {
  const url = urlOf(await firstLine(await readablePath(file)));
  const endpoint = BATCH_ENDPOINTS.find(known => known === url);
  if (endpoint) return endpoint;
  const message = `the first line of ${file} has no \`url\` that a batch can go to; name the endpoint with --endpoint`;
  throw new CliError(message, EXIT.usage);
}

async function firstLine(path: string): Promise<string> {
  const input = createReadStream(path, 'utf8');
  try {
    for await (const line of createInterface({ input, crlfDelay: Infinity })) return line.replace(/^\uFEFF/, '');
    return '';
  } finally {
    input.destroy();
  }
}

function urlOf(line: string): unknown {
  try {
    return (JSON.parse(line) as { url?: unknown } | null)?.url;
  } catch {
    return undefined;
  }
}

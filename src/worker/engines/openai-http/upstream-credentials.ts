import { open, readFile } from 'node:fs/promises';
import { isLoopback } from '../../../platform/http/networks.js';
import { type OpenAiHttpOptions } from './options.js';

/** Any key is shorter; a longer file is another file. */
const MAX_BYTES = 4096;
const OTHERS_MAY_READ = 0o004;

/**
 * Reads a bearer key. A file that everyone may read is taken with a warning, not refused:
 * the secrets of Docker and Kubernetes come with mode 0444 and 0644.
 *
 * @throws Error naming the file and what is wrong with it, never its content.
 */
async function readApiKey(path: string) {
  const { content, mode } = await readSmallFile(path);
  const key = content.trim();
  if (key === '')
    throw new Error(`options.apiKeyFile: ${path} is empty; write the key of the upstream into it`);
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Error(`options.apiKeyFile: ${path} must hold one line with the key and nothing else`);
  // Said once to the operator; the key is not in it.
  const warning = `${path} holds a key and everyone may read it; chmod 600 ${path}`;
  return { key, warning: mode & OTHERS_MAY_READ ? warning : undefined };
}

async function readSmallFile(path: string) {
  try {
    await using file = await open(path, 'r');
    const { mode, size } = await file.stat();
    if (size > MAX_BYTES) throw new Error(`${size} bytes are too many for a key`);
    return { content: await file.readFile('utf8'), mode };
  } catch (error) {
    throw unreadable('apiKeyFile', path, error as Error);
  }
}

async function readAuthorities(path: string): Promise<string> {
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unreadable('caFile', path, error as Error);
  });
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new Error(`options.caFile: ${path} holds no certificate in PEM form`);
}

const unreadable = (option: string, path: string, cause: Error): Error =>
  new Error(`options.${option}: cannot read ${path}: ${cause.message}`, { cause });

/**
 * What the files of these options hold, and what the operator should be warned of.
 * @throws Error naming the file that cannot be used
 */
export async function readCredentials({
  apiKeyFile,
  caFile,
  baseUrl,
}: Pick<OpenAiHttpOptions, 'apiKeyFile' | 'caFile' | 'baseUrl'>) {
  const read = apiKeyFile === undefined ? undefined : await readApiKey(apiKeyFile);
  const ca = caFile === undefined ? undefined : await readAuthorities(caFile);
  const isBare = baseUrl.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname);
  const exposed = 'options.baseUrl is http: the key travels unencrypted';
  return {
    key: read?.key,
    ca,
    warnings: [read?.warning, read && isBare ? exposed : undefined],
  };
}

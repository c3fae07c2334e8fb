import { open } from 'node:fs/promises';

/** Any key is shorter; a longer file is another file. */
const MAX_BYTES = 4096;
const OTHERS_MAY_READ = 0o004;

export interface ApiKey {
  readonly key: string;
  /** Said once to the operator; the key is not in it. */
  readonly warning: string | undefined;
}

/**
 * Reads a bearer key. A file that everyone may read is taken with a warning, not refused: the secrets of Docker and
 * Kubernetes come with mode 0444 and 0644.
 *
 * @throws Error naming the file and what is wrong with it, never its content.
 */
export async function readApiKey(path: string): Promise<ApiKey> {
  const { content, mode } = await readSmallFile(path);
  const key = content.trim();
  if (key === '') throw new Error(`options.apiKeyFile: ${path} is empty; write the key of the upstream into it`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new Error(`options.apiKeyFile: ${path} must hold one line with the key and nothing else`);
  }
  const open = (mode & OTHERS_MAY_READ) !== 0;
  return { key, warning: open ? `${path} holds a key and everyone may read it; chmod 600 ${path}` : undefined };
}

async function readSmallFile(path: string): Promise<{ content: string; mode: number }> {
  try {
    await using file = await open(path, 'r');
    const { mode, size } = await file.stat();
    if (size > MAX_BYTES) throw new Error(`${size} bytes are too many for a key`);
    return { content: await file.readFile('utf8'), mode };
  } catch (error) {
    throw new Error(`options.apiKeyFile: cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

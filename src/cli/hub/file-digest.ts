import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/**
 * What a file must hash to: sha256, or what git calls the file (`blob SIZE\0` + bytes,
 * SHA-1), as hubs give for small files.
 */
export type ExpectedDigest =
  | { readonly algorithm: 'sha256'; readonly hex: string }
  | { readonly algorithm: 'git'; readonly hex: string; readonly size: number };

/**
 * Hashes bytes as they come: always sha256, for the manifest, and what
 * is expected besides.
 */
export class FileDigest {
  readonly #sha256 = createHash('sha256');
  readonly #git;

  constructor(private readonly expected: ExpectedDigest | undefined) {
    if (expected?.algorithm === 'git')
      this.#git = createHash('sha1').update(`blob ${expected.size}\0`);
  }

  update(chunk: Uint8Array): void {
    this.#sha256.update(chunk);
    this.#git?.update(chunk);
  }

  /** Once, at the end. `matches` is undefined when nothing is expected. */
  finish(): { readonly sha256: string; readonly matches: boolean | undefined } {
    const sha256 = this.#sha256.digest('hex');
    if (!this.expected) return { sha256, matches: undefined };
    return {
      sha256,
      matches: (this.#git?.digest('hex') ?? sha256) === this.expected.hex.toLowerCase(),
    };
  }
}

/** Reads the whole file. @throws the file system's error, such as ENOENT */
export async function digestFile(
  path: string,
  expected: ExpectedDigest | undefined,
  signal?: AbortSignal,
) {
  const digest = new FileDigest(expected);
  for await (const chunk of createReadStream(path, { signal }))
    digest.update(chunk as Buffer);
  return digest.finish();
}

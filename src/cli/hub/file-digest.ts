import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** What a file must hash to. */
export interface ExpectedDigest {
  readonly hex: string;
  /**
   * Bytes of the file, where `hex` is what git calls it (`blob SIZE\0` + bytes, SHA-1),
   * as hubs give for small files. Undefined: `hex` is its sha256.
   */
  readonly gitSize?: number;
}

export const sha256Of = (digest: ExpectedDigest | undefined): string | undefined =>
  digest?.gitSize === undefined ? digest?.hex : undefined;

/**
 * Hashes bytes as they come: always sha256, for the manifest, and what
 * is expected besides.
 */
export class FileDigest {
  readonly #sha256 = createHash('sha256');
  readonly #git;

  constructor(private readonly expected: ExpectedDigest | undefined) {
    if (expected?.gitSize !== undefined)
      this.#git = createHash('sha1').update(`blob ${expected.gitSize}\0`);
  }

  update(chunk: Uint8Array): void {
    this.#sha256.update(chunk);
    this.#git?.update(chunk);
  }

  /** Once, at the end. `matches` is undefined when nothing is expected. */
  finish(): { readonly sha256: string; readonly matches: boolean | undefined } {
    const sha256 = this.#sha256.digest('hex');
    if (!this.expected) return { sha256, matches: undefined };
    const found = this.#git?.digest('hex') ?? sha256;
    return { sha256, matches: found === this.expected.hex.toLowerCase() };
  }
}

/** Reads the whole file. @throws the file system's error, such as ENOENT */
export async function digestFile(
  path: string,
  expected: ExpectedDigest | undefined,
  signal?: AbortSignal,
): Promise<FileDigest> {
  const digest = new FileDigest(expected);
  for await (const chunk of createReadStream(path, { signal }))
    digest.update(chunk as Buffer);
  return digest;
}

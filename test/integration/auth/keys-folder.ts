import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { type KeyScope } from '../../../src/platform/auth/principal.js';

/** A keys file of its own, filled key by key. */
export class KeysFolder {
  private constructor(readonly folder: string) {}

  static async create(): Promise<KeysFolder> {
    return new KeysFolder(await mkdtemp(join(tmpdir(), 'switchyard-keys-')));
  }

  get file(): string {
    return join(this.folder, 'keys.yaml');
  }

  /** @returns the key */
  add(tenant: string, ...scopes: KeyScope[]): string {
    return addApiKey(this.file, { tenant, scopes }).key;
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

export const bearer = (key: string): { authorization: string } => ({
  authorization: `Bearer ${key}`,
});

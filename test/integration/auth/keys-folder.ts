import { join } from 'node:path';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { type KeyScope } from '../../../src/platform/auth/principal.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** A keys file of its own, filled key by key. */
export class KeysFolder {
  readonly folder = temporaryFolder();

  get file(): string {
    return join(this.folder, 'keys.yaml');
  }

  /** @returns the key */
  add(tenant: string, ...scopes: KeyScope[]): string {
    return addApiKey(this.file, { tenant, scopes }).key;
  }
}

export const bearer = (key: string): { authorization: string } => ({
  authorization: `Bearer ${key}`,
});

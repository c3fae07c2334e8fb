import { existsSync } from 'node:fs';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { type Settings } from '../config/settings.js';
import { ConfigError } from '../config/yaml-file.js';
import { type KeyIssuer } from './key-issuer.js';
import { addApiKey } from './keys-file.js';
import { KEY_SCOPES } from './principal.js';

/**
 * Makes the file with one key that may do everything, unless it is there already.
 * @returns the text for the operator, the key included: it is stored nowhere. @throws
 *   ConfigError when it cannot be
 * written
 */
export function makeFirstKey({ server, auth }: Settings): string | undefined {
  if (existsSync(auth.keysFile)) return undefined;
  return announcement(server.host, newKey(auth.keysFile).key, auth.keysFile);
}

/**
 * The same in a database that gateways share and that has no keys. @throws what
 * the database throws
 */
export async function makeFirstStoredKey(
  { server }: Settings,
  issuer: KeyIssuer,
): Promise<string | undefined> {
  const made = await issuer.createFirst();
  return made && announcement(server.host, made.secret, 'the database');
}

const announcement = (host: string, key: string, place: string): string =>
  `No API keys are configured and the server listens on ${host}, so it made one. It is not shown again:

  ${key}

Clients send it as \`Authorization: Bearer KEY\`. Its hash is in ${place}; \`switchyard keys create\` adds more.
`;

function newKey(file: string) {
  try {
    return addApiKey(file, { tenant: DEFAULT_TENANT, scopes: KEY_SCOPES });
  } catch (error) {
    const { code = (error as Error).message } = error as NodeJS.ErrnoException;
    const message =
      `cannot be written (${code}), and the server listens beyond loopback without API keys. Name a keys file in ` +
      'auth.keys_file, or set auth.allow_anonymous: true when access is controlled elsewhere';
    throw new ConfigError([{ origin: file, message }]);
  }
}

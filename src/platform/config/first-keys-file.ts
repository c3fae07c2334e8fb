import { join } from 'node:path';
import { isLoopback } from '../http/networks.js';
import { type Settings } from './settings.js';

/**
 * Origin of `auth.keys_file`, or of `auth.required`, where no keys are set and others can
 * reach the server.
 */
export const FIRST_KEYS_ORIGIN = 'server.host, which is not loopback';

/**
 * The keys file of a server that listens beyond loopback without one (D-32). Undefined:
 * another is named, or none is needed.
 */
export function firstKeysFile({ server, auth, data }: Settings): string | undefined {
  const named = auth.keysFile !== '' || auth.key !== '' || auth.oidcIssuer !== '';
  const needed = !named && !auth.allowAnonymous && !isLoopback(server.host);
  return needed ? join(data.dir, 'keys.yaml') : undefined;
}

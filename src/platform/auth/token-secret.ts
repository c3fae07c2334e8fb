import { readFileSync } from 'node:fs';
import { ConfigError } from '../config/config-problem.js';

/** Injection token of the secret (`Buffer`) that this process signs tokens with. */
export const TOKEN_SECRET = Symbol('TOKEN_SECRET');

const MIN_SECRET_BYTES = 32;

/** Undefined: no file is named. @throws ConfigError */
export function tokenSecret(path: string): Buffer | undefined {
  if (path === '') return undefined;
  const secret = readSecret(path);
  if (secret.length >= MIN_SECRET_BYTES) return secret;
  throw new ConfigError([{ origin: path, message: `must hold at least ${MIN_SECRET_BYTES} bytes of secret` }]);
}

function readSecret(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([{ origin: path, message: `cannot be read (${code}); \`auth.token_secret_file\` names it` }]);
  }
}

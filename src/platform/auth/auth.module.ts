import { readFileSync } from 'node:fs';
import { Global, Module } from '@nestjs/common';
import { ConfigError } from '../config/config-problem.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { Authenticator } from './authenticator.js';
import { CrossOrigins } from './cross-origin.js';
import { KeyRing } from './key-ring.js';
import { ProcessorTokens } from './processor-tokens.js';
import { ShortLivedTokens } from './short-lived-tokens.js';

const MIN_SECRET_BYTES = 32;

/** Keys, tokens and origins; global, because every door asks the same questions. */
@Global()
@Module({
  providers: [
    { provide: KeyRing, inject: [SETTINGS], useFactory: ({ auth }: Settings) => new KeyRing(auth.keysFile) },
    {
      provide: ShortLivedTokens,
      inject: [SETTINGS],
      useFactory: ({ auth }: Settings) => new ShortLivedTokens(tokenSecret(auth.tokenSecretFile)),
    },
    {
      provide: ProcessorTokens,
      inject: [SETTINGS],
      useFactory: ({ auth }: Settings) => processorTokens(tokenSecret(auth.tokenSecretFile)),
    },
    {
      provide: CrossOrigins,
      inject: [SETTINGS],
      useFactory: ({ server }: Settings) => new CrossOrigins(server.corsOrigins),
    },
    Authenticator,
  ],
  exports: [Authenticator, CrossOrigins, KeyRing, ProcessorTokens],
})
export class AuthModule {}

const processorTokens = (shared: Buffer | undefined): ProcessorTokens =>
  shared ? ProcessorTokens.sharing(shared) : new ProcessorTokens();

/** Undefined: one secret per process. */
function tokenSecret(path: string): Buffer | undefined {
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

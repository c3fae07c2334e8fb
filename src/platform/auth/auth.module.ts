import { randomBytes } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { DatabaseModule } from '../database/database.module.js';
import { Authenticator } from './authenticator.js';
import { OriginGuard } from './host-and-origin-guard.js';
import { KeyIssuer } from './key-issuer.js';
import { KeyRing } from './key-ring.js';
import { ShortLivedTokens, TOKEN_SECRET, tokenSecret } from './short-lived-tokens.js';
import { StoredKeys } from './stored-keys.js';

/** Keys, tokens and origins; global, because every entry point uses them. */
@Global()
@Module({
  imports: [DatabaseModule],
  providers: [
    StoredKeys,
    KeyIssuer,
    KeyRing,
    {
      provide: TOKEN_SECRET,
      inject: [Settings],
      useFactory: ({ auth }: Settings) => tokenSecret(auth.tokenSecretFile) ?? randomBytes(32),
    },
    {
      provide: ShortLivedTokens,
      inject: [TOKEN_SECRET, Settings],
      useFactory: (secret: Buffer, { auth }: Settings) =>
        new ShortLivedTokens(
          secret,
          tokenSecret(auth.previousTokenSecretFile, undefined, 'auth.previous_token_secret_file'),
        ),
    },
    OriginGuard,
    Authenticator,
  ],
  exports: [Authenticator, KeyIssuer, KeyRing, OriginGuard, ShortLivedTokens, TOKEN_SECRET],
})
export class AuthModule {}

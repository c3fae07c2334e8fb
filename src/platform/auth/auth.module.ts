import { randomBytes } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import { requiresKeys, Settings } from '../config/settings.js';
import { DatabaseModule } from '../database/database.module.js';
import { AllowedHosts, CrossOrigins } from '../http/allowed-hosts.js';
import { TrustedProxies } from '../http/networks.js';
import { Authenticator, FailedAttempts } from './authenticator.js';
import { ShortLivedTokens, TOKEN_SECRET, tokenSecret } from './short-lived-tokens.js';
import { KeyIssuer } from './key-issuer.js';
import { KeyRing } from './key-ring.js';
import { IssuerTokens } from './issuer-tokens.js';
import { OriginGuard } from './origin-guard.js';
import { StoredKeys } from './stored-keys.js';

/** Keys, tokens and origins; global, because every entry point uses them. */
@Global()
@Module({
  imports: [DatabaseModule],
  providers: [
    StoredKeys,
    KeyIssuer,
    {
      provide: KeyRing,
      inject: [Settings, StoredKeys],
      useFactory: (settings: Settings, stored: StoredKeys) =>
        new KeyRing(settings.auth.keysFile, {
          required: requiresKeys(settings),
          key: settings.auth.key,
          stored,
          anonymous: settings.auth.allowAnonymous,
        }),
    },
    {
      provide: TOKEN_SECRET,
      inject: [Settings],
      useFactory: ({ auth }: Settings) =>
        tokenSecret(auth.tokenSecretFile) ?? randomBytes(32),
    },
    {
      provide: ShortLivedTokens,
      inject: [TOKEN_SECRET],
      useFactory: (secret: Buffer) => new ShortLivedTokens(secret),
    },
    {
      provide: CrossOrigins,
      inject: [Settings],
      useFactory: ({ server }: Settings) => new CrossOrigins(server.corsOrigins),
    },
    {
      provide: OriginGuard,
      inject: [Settings, KeyRing, CrossOrigins],
      useFactory: (settings: Settings, keys: KeyRing, cors: CrossOrigins) =>
        new OriginGuard(keys, cors, new AllowedHosts(settings)),
    },
    {
      provide: FailedAttempts,
      inject: [Settings],
      useFactory: ({ auth }: Settings) => new FailedAttempts(auth.failuresPerMinute),
    },
    {
      provide: TrustedProxies,
      inject: [Settings],
      useFactory: ({ server }: Settings) => new TrustedProxies(server.trustedProxies),
    },
    {
      provide: IssuerTokens,
      inject: [Settings],
      useFactory: ({ auth }: Settings) =>
        auth.oidcIssuer === '' ? undefined : new IssuerTokens(auth),
    },
    Authenticator,
  ],
  exports: [
    Authenticator,
    CrossOrigins,
    KeyIssuer,
    KeyRing,
    OriginGuard,
    ShortLivedTokens,
    TOKEN_SECRET,
  ],
})
export class AuthModule {}

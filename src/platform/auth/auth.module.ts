import { randomBytes } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import { requiresKeys, SETTINGS, type Settings } from '../config/settings.js';
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
      inject: [SETTINGS, StoredKeys],
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
      inject: [SETTINGS],
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
      inject: [SETTINGS],
      useFactory: ({ server }: Settings) => new CrossOrigins(server.corsOrigins),
    },
    {
      provide: OriginGuard,
      inject: [SETTINGS, KeyRing, CrossOrigins],
      useFactory: (settings: Settings, keys: KeyRing, cors: CrossOrigins) =>
        new OriginGuard(() => !keys.enabled, cors, new AllowedHosts(settings)),
    },
    {
      provide: FailedAttempts,
      inject: [SETTINGS],
      useFactory: ({ auth }: Settings) => new FailedAttempts(auth.failuresPerMinute),
    },
    {
      provide: TrustedProxies,
      inject: [SETTINGS],
      useFactory: ({ server }: Settings) => new TrustedProxies(server.trustedProxies),
    },
    {
      provide: IssuerTokens,
      inject: [SETTINGS],
      useFactory: ({ auth }: Settings) =>
        auth.oidcIssuer === '' ? undefined : new IssuerTokens(auth),
    },
    Authenticator,
  ],
  exports: [Authenticator, CrossOrigins, KeyIssuer, KeyRing, OriginGuard, TOKEN_SECRET],
})
export class AuthModule {}

import { randomBytes } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import { SETTINGS, type Settings } from '../config/settings.js';
import { AllowedHosts } from '../http/allowed-hosts.js';
import { CrossOrigins } from '../http/cross-origin.js';
import { Authenticator, FailedAttempts } from './authenticator.js';
import { TOKEN_SECRET, tokenSecret } from './internal-tokens.js';
import { KeyRing } from './key-ring.js';
import { OriginGuard } from './origin-guard.js';
import { ShortLivedTokens } from './short-lived-tokens.js';

/** Keys, tokens and origins; global, because every entry point uses them. */
@Global()
@Module({
  providers: [
    { provide: KeyRing, inject: [SETTINGS], useFactory: ({ auth }: Settings) => new KeyRing(auth.keysFile) },
    {
      provide: TOKEN_SECRET,
      inject: [SETTINGS],
      useFactory: ({ auth }: Settings) => tokenSecret(auth.tokenSecretFile) ?? randomBytes(32),
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
    Authenticator,
  ],
  exports: [Authenticator, CrossOrigins, KeyRing, OriginGuard, TOKEN_SECRET],
})
export class AuthModule {}

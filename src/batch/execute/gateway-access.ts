import { ConfigError } from '../../platform/config/config-problem.js';
import { type ProcessorLink } from '../../platform/config/processor-link.js';
import { type Settings } from '../../platform/config/settings.js';
import { internalTokens } from '../../platform/auth/internal-tokens.js';
import { addressesOf } from './target-addresses.js';

export interface GatewayAccess {
  readonly urls: readonly string[];
  authorization(tenant: string): string | undefined;
}

/**
 * Where the gateway is and how its lines are let in: by a token of the job's tenant, signed with the gateway's secret. A
 * processor that was started by hand shares that secret through `auth.token_secret_file`.
 * @throws ConfigError when keys are asked for and no secret is known
 */
export function gatewayAccess(settings: Settings, link: ProcessorLink | undefined): GatewayAccess {
  const { server, auth, batch } = settings;
  const host = server.host === '0.0.0.0' || server.host === '::' ? '127.0.0.1' : server.host;
  const named = batch.gatewayUrl || link?.gatewayUrl;
  const urls = addressesOf(named ?? `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`);
  if (auth.keysFile === '') return { urls, authorization: () => undefined };
  const tokens = internalTokens(auth, link?.tokenSecret);
  if (!tokens) {
    const message = 'a batch processor of its own needs the secret that its gateway signs tokens with';
    throw new ConfigError([{ origin: 'auth.token_secret_file', message }]);
  }
  return { urls, authorization: tenant => `Bearer ${tokens.tokenFor(tenant)}` };
}

import { type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { DomainError } from '../../core/errors/domain-error.js';
import { isPublicAddress } from './address-policy.js';
import { type HostExceptions } from './host-exceptions.js';
import { unbracketed } from './loopback.js';

/**
 * A URL and the addresses that were checked for it: the connection goes to one of them,
 * without asking DNS again.
 */
export interface FetchTarget {
  readonly url: URL;
  readonly addresses: readonly LookupAddress[];
}

/** All addresses of a host name. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>;

/** As the operating system does, its hosts file included. */
export const resolveBySystem: ResolveHost = hostname =>
  lookup(hostname, { all: true, verbatim: true });

interface TargetRules {
  readonly exceptions: HostExceptions;
  readonly resolve: ResolveHost;
}

/**
 * Checks one URL, be it the caller's or a redirect's. Of several addresses only the
 * permitted ones are kept.
 * @throws DomainError `file_url_refused`, or `file_url_unreachable` when the name has no
 *   address. No message says what
 * a
 *   name resolved to: a client could map the inner network with it.
 */
export async function fetchTarget(
  url: URL,
  { exceptions, resolve }: TargetRules,
): Promise<FetchTarget> {
  const { protocol, hostname } = url;
  if (protocol !== 'http:' && protocol !== 'https:')
    throw refusedUrl('it leads to something that is not http or https');
  if (url.username !== '' || url.password !== '')
    throw refusedUrl('it leads to a URL with credentials');
  const port = url.port || (protocol === 'http:' ? '80' : '443');
  if (!exceptions.isPortOpen(hostname, port))
    throw refusedUrl(
      `port ${port} is not allowed; 80 and 443 are, and those that the list of allowed hosts names as host:port`,
    );
  const known = await addressesOf(hostname, resolve);
  const trusted = exceptions.isHostTrusted(hostname, port);
  const addresses = known.filter(
    ({ address }) =>
      trusted || exceptions.isAddressTrusted(address) || isPublicAddress(address),
  );
  if (addresses.length === 0) throw refusedUrl('its host is not on the public Internet');
  return { url, addresses };
}

async function addressesOf(
  hostname: string,
  resolve: ResolveHost,
): Promise<readonly LookupAddress[]> {
  const literal = unbracketed(hostname);
  const family = isIP(literal);
  if (family !== 0) return [{ address: literal, family }];
  const addresses = await resolve(hostname).catch((cause: unknown) => {
    throw unreachable('its host name cannot be resolved', cause);
  });
  if (addresses.length === 0) throw unreachable('its host name has no address');
  return addresses;
}

export const refusedUrl = (reason: string): DomainError =>
  new DomainError('file_url_refused', `\`file_url\` is refused: ${reason}.`, {
    param: 'file_url',
  });

export const unreachable = (reason: string, cause?: unknown): DomainError =>
  new DomainError('file_url_unreachable', `\`file_url\` cannot be fetched: ${reason}.`, {
    param: 'file_url',
    cause,
  });

import { type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, BlockList } from 'node:net';
import { DomainError } from '../../core/errors/domain-error.js';
import { type HostExceptions } from './host-exceptions.js';
import { unbracketed } from './loopback.js';

/**
 * IPv4 that is no public server: IANA's special-purpose registry, multicast, the reserved
 * class E, and one public address that cloud machines reach their own host by.
 */
const REFUSED_V4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8], // this network; 0.0.0.0 connects to loopback
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT; 100.100.100.200 is a cloud's metadata
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // Azure's host
  ['169.254.0.0', 16], // link-local; 169.254.169.254 is every cloud's metadata
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/**
 * The only IPv6 in public use. Outside it lie loopback, unspecified, unique local,
 * link-local, site-local, multicast, and the forms that hide an IPv4 address: mapped
 * (::ffff:0:0/96), compatible (::/96) and NAT64 (64:ff9b::/96, 64:ff9b:1::/48).
 */
const GLOBAL_V6 = ['2000::', 3] as const;

const REFUSED_V6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23], // protocol assignments, of them Teredo, which hides an IPv4 address
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which hides an IPv4 address
  ['3fff::', 20], // documentation
];

const refusedV4 = new BlockList();

for (const [network, prefix] of REFUSED_V4) refusedV4.addSubnet(network, prefix, 'ipv4');

const refusedV6 = new BlockList();

for (const [network, prefix] of REFUSED_V6) refusedV6.addSubnet(network, prefix, 'ipv6');

const globalV6 = new BlockList();

globalV6.addSubnet(...GLOBAL_V6, 'ipv6');

/**
 * True for an address that a client's URL may lead to. What is no plain IP address (text,
 * a zone such as `fe80::1%eth0`) is refused. Names and the spellings of hosts (`0x7f.1`,
 * `2130706433`) never come here: the URL parser and DNS go first.
 */
export function isPublicAddress(address: string): boolean {
  switch (address.includes('%') ? 0 : isIP(address)) {
    case 4:
      return !refusedV4.check(address, 'ipv4');
    case 6:
      return globalV6.check(address, 'ipv6') && !refusedV6.check(address, 'ipv6');
    default:
      return false;
  }
}

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
  {
    exceptions,
    resolve,
  }: { readonly exceptions: HostExceptions; readonly resolve: ResolveHost },
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

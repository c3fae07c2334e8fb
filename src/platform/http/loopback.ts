import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** `[::1]` is `::1` in a URL and in `Host`. */
export const unbracketed = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/**
 * True for this machine's own addresses and for `localhost`. Any other name is false,
 * also `127.evil.com`, whatever it resolves to.
 * @param host without port; an IPv6 address with or without brackets
 */
export function isLoopback(host: string): boolean {
  const address = unbracketed(host);
  const family = isIP(address);
  if (family === 0) return host.toLowerCase() === 'localhost';
  return (
    !address.includes('%') && LOOPBACK.check(address, family === 4 ? 'ipv4' : 'ipv6')
  );
}

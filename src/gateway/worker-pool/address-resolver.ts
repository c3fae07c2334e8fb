import { lookup } from 'node:dns/promises';

/** The addresses a host name stands for now. Rejects, or is empty, when there are none. */
export type AddressResolver = (host: string) => Promise<readonly string[]>;

/** Injection token of the `AddressResolver`. */
export const ADDRESS_RESOLVER = Symbol('ADDRESS_RESOLVER');

/**
 * As the operating system resolves names, `/etc/hosts` included. A host with addresses of both families is one machine, not
 * two: IPv6 counts only where there is no IPv4.
 */
export const systemResolver: AddressResolver = async host => {
  const found = await lookup(host, { all: true });
  const ipv4 = found.filter(({ family }) => family === 4);
  return (ipv4.length > 0 ? ipv4 : found).map(({ address }) => address);
};

import { BlockList, isIP } from 'node:net';

/** Entries of a text with commas, without blanks. */
export const listed = (text: string): readonly string[] =>
  text
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '');

/** In lower case; `::1` for the `[::1]` of a URL and of `Host`. */
export const bareHost = (host: string): string => host.replace(/^\[(.*)\]$/, '$1').toLowerCase();

/**
 * True for this machine's own addresses and for `localhost`. Any other name is false,
 * also `127.evil.com`, whatever it resolves to.
 * @param host without port; an IPv6 address with or without brackets
 */
export function isLoopback(host: string): boolean {
  const address = bareHost(host);
  if (host.toLowerCase() === 'localhost') return true;
  return !address.includes('%') && LOOPBACK.has(address);
}

/** Addresses, and networks such as 10.1.0.0/16. */
export class Networks {
  readonly #list = new BlockList();

  constructor(...entries: readonly string[]) {
    for (const entry of entries) this.add(entry);
  }

  /** @returns false if the entry is neither */
  add(entry: string): boolean {
    const [address = '', prefix, ...rest] = entry.split('/');
    const most = isIP(address) === 6 ? 128 : 32;
    const bits = Number(prefix ?? most);
    if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix ?? '0') || bits > most)
      return false;
    this.#list.addSubnet(address, bits, familyOf(address));
    return true;
  }

  has(address: string): boolean {
    return isIP(address) !== 0 && this.#list.check(address, familyOf(address));
  }

  /** @param address as a socket has it: a dual-stack one writes ::ffff:10.1.0.1 */
  hasPeer(address: string): boolean {
    return this.has(address.replace(/^::ffff:(?=\d+\.)/i, ''));
  }
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

const LOOPBACK = new Networks('127.0.0.0/8', '::1');

/**
 * Networks and names, separated by commas.
 * @throws Error naming an entry that looks like a network and is none
 */
export function networksAndNames(text: string): {
  readonly networks: Networks;
  readonly names: ReadonlySet<string>;
} {
  const networks = new Networks();
  const names = listed(text).filter(entry => !networks.add(entry));
  const wrong = names.find(name => name.includes('/'));
  if (wrong !== undefined)
    throw new Error(`\`${wrong}\` is no network such as 10.1.0.0/16 or 2001:db8::/32`);
  return { networks, names: new Set(names) };
}

import { BlockList, isIP } from 'node:net';

const ALWAYS_OPEN = ['80', '443'];

/** What `fetch.allow_hosts` adds to the public Internet's ports 80 and 443. */
export class HostExceptions {
  readonly #hosts = new Set<string>();
  readonly #networks = new BlockList();

  /**
   * Entries, separated by commas: `host` (its addresses may be private), `host:port` (that port too), or `10.1.0.0/16`
   * (every name that leads there).
   * @throws Error naming the entry that is none of them.
   */
  constructor(text: string) {
    for (const entry of text.split(',').map(part => part.trim())) {
      if (entry.includes('/')) this.#addNetwork(entry);
      else if (entry !== '') this.#addHost(entry);
    }
  }

  /** @param port as in a URL, never empty */
  isPortOpen(hostname: string, port: string): boolean {
    return ALWAYS_OPEN.includes(port) || this.#hosts.has(`${hostname}:${port}`);
  }

  isHostTrusted(hostname: string, port: string): boolean {
    const usual = ALWAYS_OPEN.includes(port) && this.#hosts.has(hostname);
    return usual || this.#hosts.has(`${hostname}:${port}`);
  }

  isAddressTrusted(address: string): boolean {
    const family = isIP(address);
    return family !== 0 && this.#networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }

  #addHost(entry: string): void {
    // The URL parser gives the spelling that a caller's URL is compared in, and refuses what is no host.
    const url = URL.parse(`https://${entry}`);
    if (url === null || url.host === '' || url.username !== '' || /[?#@\s\\]/.test(entry)) throw badEntry(entry);
    const port = /:(\d+)$/.exec(entry)?.[1];
    this.#hosts.add(port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`);
  }

  #addNetwork(entry: string): void {
    const [network = '', prefix = '', ...rest] = entry.split('/');
    const family = isIP(network);
    const fits = /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
    if (family === 0 || !fits || rest.length > 0) throw badEntry(entry);
    this.#networks.addSubnet(network, Number(prefix), family === 4 ? 'ipv4' : 'ipv6');
  }
}

const badEntry = (entry: string): Error =>
  new Error(`\`${entry}\` is no host, host:port or network such as 10.1.0.0/16`);

import { listed, Networks } from './networks.js';

const ALWAYS_OPEN = ['80', '443'];

/** What `fetch.allow_hosts` adds to the public Internet's ports 80 and 443. */
export class HostExceptions {
  readonly #hosts = new Set<string>();
  readonly #networks = new Networks();

  /**
   * Entries, separated by commas: `host` (its addresses may be private), `host:port`
   * (that port too), or `10.1.0.0/16` (every name that leads there).
   * @throws Error naming the entry that is none of them.
   */
  constructor(text: string) {
    for (const entry of listed(text)) {
      if (!entry.includes('/')) this.#addHost(entry);
      else if (!this.#networks.add(entry)) throw badEntry(entry);
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
    return this.#networks.has(address);
  }

  #addHost(entry: string) {
    // The URL parser gives the spelling that a caller's URL is compared in, and refuses
    // what is no host.
    const url = URL.parse(`https://${entry}`);
    if (url === null || url.host === '' || url.username !== '' || /[?#@\s\\]/.test(entry))
      throw badEntry(entry);
    const port = /:(\d+)$/.exec(entry)?.[1];
    this.#hosts.add(port === undefined ? url.hostname : `${url.hostname}:${Number(port)}`);
  }
}

const badEntry = (entry: string) =>
  new Error(`\`${entry}\` is no host, host:port or network such as 10.1.0.0/16`);

import { type IncomingHttpHeaders } from 'node:http';
import { listed, networksAndNames } from './networks.js';

/** Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. */
export class TrustedProxies {
  readonly #networks;

  /**
   * @param list addresses and networks, separated by commas. @throws Error for an entry
   *   that is neither
   */
  constructor(list: string) {
    const { networks, names } = networksAndNames(list);
    const [wrong] = names;
    if (wrong !== undefined)
      throw new Error(`\`server.trusted_proxies\`: \`${wrong}\` is no address and no network.`);
    this.#networks = networks;
  }

  has(address: string): boolean {
    return this.#networks.hasPeer(address);
  }

  /** The last address that no trusted proxy has. @param peer of the connection */
  clientOf({ 'x-forwarded-for': forwarded = '' }: IncomingHttpHeaders, peer = ''): string {
    const earlier = [...listed([forwarded].flat().join())];
    let client = peer;
    while (this.has(client) && earlier.length > 0) client = earlier.pop() || client;
    return client;
  }
}

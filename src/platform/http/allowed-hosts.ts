import { isIP } from 'node:net';
import { listed } from './list-setting.js';
import { isLoopback, unbracketed } from './loopback.js';

const HOST = /^(\*|[A-Za-z0-9_.-]+|\[?[0-9A-Fa-f:.]+\]?)$/;
/** `name:8000`, `[::1]:8000` and both without a port. */
const HOST_HEADER = /^(\[[^\]]*\]|[^:/?#@]*)(:\d*)?$/;

interface HostSettings {
  readonly server: { readonly host: string; readonly allowedHosts: string };
  readonly auth: { readonly allowAnonymous: boolean };
}

/**
 * Which `Host` a request may name where no keys are asked for (D-32): this machine,
 * the address the server listens on, and `server.allowed_hosts`. A web page whose own
 * name was made to resolve to this machine (DNS rebinding) names itself. Addresses in
 * place of names cannot be rebound: where `auth.allow_anonymous` opens the server,
 * they are accepted too.
 */
export class AllowedHosts {
  readonly #named: ReadonlySet<string>;
  readonly #addresses: boolean;

  constructor({ server, auth }: HostSettings) {
    this.#named = new Set([server.host, ...listed(server.allowedHosts)].map(bare));
    this.#addresses = auth.allowAnonymous;
  }

  /** @param header value of `Host`; absent with HTTP/1.0, which no browser speaks */
  accepts(header: string | undefined): boolean {
    if (header === undefined || this.#named.has('*')) return true;
    const host = HOST_HEADER.exec(header)?.[1];
    if (host === undefined) return false;
    return (
      isLoopback(host) ||
      this.#named.has(bare(host)) ||
      (this.#addresses && isIP(bare(host)) !== 0)
    );
  }
}

/** Entries of `server.allowed_hosts` that are no host names. */
export const wrongHosts = (value: string): readonly string[] =>
  listed(value).filter(host => !HOST.test(host));

const bare = (host: string): string => unbracketed(host).toLowerCase();

import { type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { type LookupFunction, isIP } from 'node:net';
import { DomainError } from '../../core/errors/domain-error.js';
import { HostExceptions } from './host-exceptions.js';
import { bareHost } from './networks.js';
import { isPublicAddress } from './public-address.js';

/**
 * A URL and the addresses that were checked for it: the connection goes to one of them,
 * without asking DNS again.
 */
interface FetchTarget {
  readonly url: URL;
  readonly addresses: readonly LookupAddress[];
}

/** All addresses of a host name, as the operating system knows them, its hosts file included. */
const resolveBySystem = (hostname: string): Promise<readonly LookupAddress[]> =>
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
  exceptions: HostExceptions,
  resolve = resolveBySystem,
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
    ({ address }) => trusted || exceptions.isAddressTrusted(address) || isPublicAddress(address),
  );
  if (addresses.length === 0) throw refusedUrl('its host is not on the public Internet');
  return { url, addresses };
}

async function addressesOf(
  hostname: string,
  resolve: typeof resolveBySystem,
): Promise<readonly LookupAddress[]> {
  const literal = bareHost(hostname);
  const family = isIP(literal);
  if (family !== 0) return [{ address: literal, family }];
  const addresses = await resolve(hostname).catch((cause: unknown) => {
    throw unreachable('its host name cannot be resolved', cause);
  });
  if (addresses.length === 0) throw unreachable('its host name has no address');
  return addresses;
}

const refusedUrl = (reason: string): DomainError =>
  new DomainError('file_url_refused', `\`file_url\` is refused: ${reason}.`, {
    param: 'file_url',
  });

const unreachable = (reason: string, cause?: unknown): DomainError =>
  new DomainError('file_url_unreachable', `\`file_url\` cannot be fetched: ${reason}.`, {
    param: 'file_url',
    cause,
  });

export interface FetchRules {
  /** All of it: names, connections, redirects, the body. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** `fetch.allow_hosts` as written. */
  readonly allowHosts: string;
}

const MAX_REDIRECTS = 5;

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Nothing of the caller's or of this machine: no cookies, no authorisation, no referrer.
 */
const HEADERS = {
  'user-agent': 'switchyard',
  accept: 'audio/*, video/*, */*;q=0.5',
  'accept-encoding': 'identity',
};

const WEB_PAGE = /^\s*(text\/html|application\/xhtml\+xml)\b/i;

/**
 * Downloads what a client's URL names, without letting it reach this machine or its
 * network: every URL on the way is checked, and the connection goes to the checked
 * address, so a name that changes its mind in between gains nothing. One connection per
 * request, no proxy.
 */
export class SafeFetch {
  readonly #exceptions: HostExceptions;
  readonly #plain = new http.Agent();
  readonly #secure = new https.Agent();

  /** @throws Error when `allowHosts` is malformed. */
  constructor(
    private readonly rules: FetchRules,
    private readonly resolve = resolveBySystem,
  ) {
    this.#exceptions = new HostExceptions(rules.allowHosts);
  }

  /**
   * @throws DomainError `file_url_refused`, `file_url_unreachable` (network, status other
   *   than 200, time limit) or
   *   `file_too_large`, all about `file_url`; or the signal's reason, by then with the connection closed.
   */
  async bytes(url: string, signal: AbortSignal): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.chunks(url, signal)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /**
   * The same in pieces, as they are asked for; leaving early closes the connection.
   * @throws as `bytes`.
   */
  async *chunks(url: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const timeout = AbortSignal.timeout(this.rules.timeoutMs);
    const stop = AbortSignal.any([signal, timeout]);
    try {
      yield* this.#body(await this.#follow(new URL(url), stop));
      stop.throwIfAborted();
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted)
        throw unreachable(`it took longer than ${this.rules.timeoutMs} ms`, error);
      if (error instanceof DomainError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw unreachable(code ?? message, error);
    }
  }

  async #follow(first: URL, stop: AbortSignal): Promise<http.IncomingMessage> {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      stop.throwIfAborted();
      const target = fetchTarget(url, this.#exceptions, this.resolve);
      const answer = await this.#get(await orAborted(target, stop), stop);
      const next = redirectOf(answer);
      if (next === undefined) return answer;
      answer.destroy();
      const followed = URL.parse(next, url.href);
      if (followed === null) throw refusedUrl('it redirects to something that is no URL');
      url = followed;
    }
    throw refusedUrl(`it redirects more than ${MAX_REDIRECTS} times`);
  }

  #get({ url, addresses }: FetchTarget, signal: AbortSignal): Promise<http.IncomingMessage> {
    const options = { headers: HEADERS, lookup: lookupIn(addresses), signal };
    return new Promise((resolve, reject) => {
      const request =
        url.protocol === 'https:'
          ? https.get(url, { ...options, agent: this.#secure })
          : http.get(url, { ...options, agent: this.#plain });
      request.on('error', reject);
      request.on('response', answer => {
        // A body without a length ends with its connection, also one that was reset or
        // cut by us: the reader has to hear of it.
        request.on('error', error => answer.destroy(error));
        resolve(answer);
      });
    });
  }

  async *#body(answer: http.IncomingMessage): AsyncGenerator<Buffer> {
    try {
      this.#assertAudioMayFollow(answer);
      let size = 0;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > this.rules.maxBytes) throw this.#tooLarge();
        yield chunk;
      }
      if (size === 0)
        throw new DomainError('empty_file', '`file_url` gave 0 bytes.', {
          param: 'file_url',
        });
    } finally {
      answer.destroy();
    }
  }

  #assertAudioMayFollow({ statusCode, headers }: http.IncomingMessage) {
    if (statusCode !== 200) throw unreachable(`its server answered ${statusCode}`);
    if (WEB_PAGE.test(headers['content-type'] ?? ''))
      throw refusedUrl('it gave a web page, not an audio file');
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      throw refusedUrl('its server compressed the file, although asked not to');
    if (Number(headers['content-length'] ?? 0) > this.rules.maxBytes) throw this.#tooLarge();
  }

  #tooLarge(): DomainError {
    const message = `What \`file_url\` names is larger than ${this.rules.maxBytes} bytes.`;
    return new DomainError('file_too_large', message, { param: 'file_url' });
  }
}

const redirectOf = ({ statusCode = 0, headers }: http.IncomingMessage) =>
  REDIRECTS.includes(statusCode) ? headers.location : undefined;

/** A resolver that knows the checked addresses only. */
export const lookupIn =
  (addresses: FetchTarget['addresses']): LookupFunction =>
  (_hostname, { all }, callback) => {
    if (all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };

/** DNS cannot be interrupted; the wait for it can. @throws the reason of `stop` */
function orAborted<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  const aborted = once(stop, 'abort').then(() => Promise.reject(stop.reason as Error));
  return Promise.race([work, aborted]);
}

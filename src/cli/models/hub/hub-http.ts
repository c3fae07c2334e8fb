import { leadingBytes } from '../../../platform/http/leading-bytes.js';
import { retryAfterMs } from '../../../platform/http/retry-after.js';
import { HubError } from './hub-error.js';

/** Largest text that is read, such as a list of files. */
const LARGEST_TEXT = 16 * 1024 * 1024;

/** Codes after which the connection itself failed: refused, no such name, no route. */
const NO_WAY = [
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/**
 * GET with failures as HubError. Redirects are followed; the token does not go along to
 * another host (Fetch standard).
 */
export class HubHttp {
  readonly endpoint: string;

  /**
   * @param endpoint such as `https://huggingface.co`; the token goes there and nowhere else
   * @param token for gated and private repositories
   */
  constructor(
    endpoint: string,
    private readonly token: string | undefined,
  ) {
    this.endpoint = endpoint.replace(/\/+$/, '');
  }

  /**
   * @returns an answer of 200 or 206, its body not read. 416 passes, too: it says that a
   *   range is not there.
   */
  async get(
    url: string,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const authorization = this.#tokenFor(url);
    const response = await fetch(url, {
      headers: { ...headers, ...authorization },
      signal,
    }).catch((error: Error) => {
      signal.throwIfAborted();
      throw unreachableHost(url, error);
    });
    const problem = this.#problemOf(url, response);
    if (!problem) return response;
    await response.body?.cancel();
    throw problem;
  }

  /** @throws HubError `refused` for more than 16 MiB, whatever was announced */
  async text(url: string, signal: AbortSignal): Promise<string> {
    const { body } = await this.get(url, signal);
    const text = await leadingBytes((body ?? []) as AsyncIterable<Uint8Array>, LARGEST_TEXT + 1);
    if (text.length > LARGEST_TEXT)
      throw new HubError('refused', `${new URL(url).host} sent a list of more than 16 MiB`);
    return text.toString();
  }

  #tokenFor(url: string): Record<string, string> {
    const { token } = this;
    if (token === undefined || new URL(url).origin !== new URL(this.endpoint).origin) return {};
    return { authorization: `Bearer ${token}` };
  }

  #problemOf(url: string, { status, headers, url: last }: Response) {
    const { host, pathname, protocol } = new URL(url);
    if (last.startsWith('http:') && protocol === 'https:')
      return new HubError(
        'refused',
        `${host} leads to an unencrypted address, ${new URL(last).host}`,
      );
    if ([200, 206, 416].includes(status)) return undefined;
    const what = `${host} answered ${status} to ${decodeURI(pathname)}`;
    if (status === 401 || status === 403)
      return this.#refusedAccess(what, headers.get('x-error-code'));
    if (status === 404)
      return new HubError('not_found', `${what}: no such repository, revision or file`);
    const transient = status === 408 || status === 429 || status >= 500;
    const asked = retryAfterMs(Object.fromEntries(headers), Date.now());
    return new HubError('refused', what, { transient, retryAfterMs: asked });
  }

  #refusedAccess(what: string, code: string | null) {
    const known =
      this.token === undefined ? 'no token was sent' : 'the token that was sent has no access';
    const missing =
      code === 'RepoNotFound' ? 'it does not exist, or is private' : 'it is gated or private';
    return new HubError(
      'gated',
      `${what}: ${missing}, and ${known}. Accept its terms on its page, ` +
        `create an access token at ${this.endpoint}/settings/tokens, ` +
        'put it alone into a file, and name that file: --token-file FILE, or hub.token_file in config/switchyard.yaml',
    );
  }
}

function unreachableHost(url: string, error: Error) {
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  const code = cause?.code ?? cause?.message ?? error.message;
  const message = `${new URL(url).host} cannot be reached (${code})`;
  return new HubError('unreachable', message, {
    transient: !NO_WAY.includes(code),
    cause: error,
  });
}

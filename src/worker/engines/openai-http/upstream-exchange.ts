import * as http from 'node:http';
import * as https from 'node:https';

export interface RequestBody {
  readonly contentType: string;
  readonly parts: readonly Uint8Array[];
}

interface ExchangeRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** Closes the connection at once, in whatever state the exchange is. */
  readonly signal: AbortSignal;
}

interface ExchangeOptions {
  readonly timeoutMs: number;
  readonly maxConcurrent: number;
  /** PEM; undefined: Node's own list. */
  readonly ca: string | undefined;
  readonly insecureSkipVerify: boolean;
}

/** No byte in either direction for `timeoutMs`, while its reader kept up. */
export class UpstreamSilence extends Error {
  constructor(readonly timeoutMs: number) {
    super(`silent for ${timeoutMs} ms`);
    this.name = 'UpstreamSilence';
  }
}

/** The upstream closed a kept connection just as it was used again; it has not seen the request. */
export class StaleConnection extends Error {
  constructor(cause: NodeJS.ErrnoException) {
    super(cause.code ?? cause.message, { cause });
    this.name = 'StaleConnection';
  }
}

/**
 * One HTTP request and its answer. `fetch` would do but for TLS: a CA file needs undici's own agent, which Node does not
 * export. The agent is also the limit of concurrency: what exceeds `maxConcurrent` waits in it for a connection.
 */
export class UpstreamExchange {
  readonly #plain: http.Agent;
  readonly #secure: https.Agent;

  constructor(private readonly options: ExchangeOptions) {
    const limits = { keepAlive: true, maxSockets: options.maxConcurrent, maxFreeSockets: options.maxConcurrent };
    this.#plain = new http.Agent(limits);
    const { ca, insecureSkipVerify } = options;
    this.#secure = new https.Agent({
      ...limits,
      ...(ca !== undefined && { ca }),
      rejectUnauthorized: !insecureSkipVerify,
    });
  }

  /**
   * Resolves with the head of the answer, whose body has to be read or destroyed.
   * @throws Error of the network, StaleConnection, UpstreamSilence, or the signal's reason.
   */
  send(request: ExchangeRequest): Promise<http.IncomingMessage> {
    const { signal, body } = request;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const sent = this.#open(request);
      let answered: http.IncomingMessage | undefined;
      const abort = (): void => {
        // A request that waits for a connection says nothing when it is destroyed.
        reject(signal.reason as Error);
        sent.destroy(signal.reason as Error);
      };
      signal.addEventListener('abort', abort, { once: true });
      sent.once('close', () => signal.removeEventListener('abort', abort));
      sent.once('response', answer => resolve((answered = answer)));
      sent.on('timeout', () => {
        // What lies here unread was sent: the reader is slow, not the upstream.
        if (answered?.readableLength) return;
        (answered ?? sent).destroy(new UpstreamSilence(this.options.timeoutMs));
      });
      sent.on('error', error => {
        reject(isStale(sent, error) ? new StaleConnection(error) : error);
        // A body without a length ends with its connection, also with one that was reset: half an answer must not pass for a whole.
        answered?.destroy(error);
      });
      for (const part of body?.parts ?? []) sent.write(part);
      sent.end();
    });
  }

  /** Closes idle connections; those in use end with their own signals. Idempotent. */
  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  #open({ url, method, headers, body }: ExchangeRequest): http.ClientRequest {
    const options = {
      method,
      headers: { ...headers, ...(body && bodyHeaders(body)) },
      timeout: this.options.timeoutMs,
    };
    return url.startsWith('https:')
      ? https.request(url, { ...options, agent: this.#secure })
      : http.request(url, { ...options, agent: this.#plain });
  }
}

const isStale = (sent: http.ClientRequest, { code }: NodeJS.ErrnoException): boolean =>
  sent.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');

const bodyHeaders = ({ contentType, parts }: RequestBody): http.OutgoingHttpHeaders => ({
  'content-type': contentType,
  'content-length': parts.reduce((sum, part) => sum + part.byteLength, 0),
});

import * as http from 'node:http';
import * as https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { DeviceGone } from '@switchyard/engine-api/engine.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { isUnconnected } from '../../../platform/http/connections.js';
import { leadingBytes } from '../../../platform/http/leading-bytes.js';
import { type OpenAiHttpOptions } from './options.js';
import { unusableAnswer, UpstreamFailure } from './upstream-failure.js';

const CUT_OFF = new Set(['ECONNRESET', 'EPIPE']);

/**
 * The body of an answer; the network's errors come as UpstreamFailure. Not the answer's
 * own iterator, which costs a dozen listeners.
 */
export async function* bodyOf(
  answer: http.IncomingMessage,
  modelId: string,
): AsyncGenerator<Buffer> {
  let wake = (): void => undefined;
  for (const event of ['readable', 'end', 'error', 'close']) answer.on(event, () => wake());
  for (let begun = false; ;) {
    const piece = answer.destroyed ? null : (answer.read() as Buffer | null);
    if (piece !== null) {
      begun = true;
      yield piece;
    } else if (answer.readableEnded) return;
    else if (answer.errored instanceof UpstreamSilence) throw silence(modelId, answer.errored);
    else if (answer.destroyed && !begun) throw new UpstreamFailure(cutOff(modelId, 'ECONNRESET'));
    else if (answer.destroyed)
      throw unusableAnswer(modelId, 'ended the connection before its answer was complete.');
    else await new Promise<void>(resolve => (wake = resolve));
  }
}

/** At most `limit` bytes as text; the rest is left unread. */
export const textOf = async (body: AsyncIterable<Buffer>, limit: number): Promise<string> =>
  (await leadingBytes(body, limit)).toString('utf8', 0, limit);

/**
 * A request that got no answer. Without a connection it is returned as if it had
 * never been sent; one whose connection was cut may be the cause, so it is returned
 * as lost (D-40).
 */
export function failureOfNetwork(modelId: string, error: Error): UpstreamFailure {
  if (error instanceof UpstreamSilence) return silence(modelId, error);
  const code = codeOf(error);
  if (CUT_OFF.has(code)) return new UpstreamFailure(cutOff(modelId, code));
  const kind = isUnconnected(error) ? 'upstream_unavailable' : 'engine_failed';
  const message = `The upstream of model '${modelId}' ${reasonOf(code)}`;
  return new UpstreamFailure(new DomainError(kind, message, { cause: error }));
}

/** The failure of a call that was not sent. */
export const upstreamAway = (modelId: string): UpstreamFailure =>
  new UpstreamFailure(
    new DomainError(
      'upstream_unavailable',
      `The upstream of model '${modelId}' cannot be reached.`,
    ),
  );

const cutOff = (modelId: string, code: string): DeviceGone =>
  new DeviceGone(
    `The upstream of model '${modelId}' closed the connection without an answer (${code}).`,
    {
      code: 'worker_lost',
    },
  );

/** It may still be at work, so a silent upstream is not asked again. */
const silence = (modelId: string, { timeoutMs }: UpstreamSilence): UpstreamFailure =>
  unusableAnswer(modelId, `sent and took no byte for ${timeoutMs} ms (options.timeoutMs).`);

const reasonOf = (code: string): string =>
  isCertificateProblem(code)
    ? `is not trusted (${code}): options.caFile names who signs its certificate.`
    : `cannot be reached (${code}).`;

/** OpenSSL's verdicts, Node's own, and those of the handshake. */
const isCertificateProblem = (code: string): boolean =>
  /CERT|ISSUER|LEAF_SIGNATURE|ERR_TLS|ERR_SSL/.test(code);

function codeOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return code ?? error.message;
}

export interface RequestBody {
  readonly contentType: string;
  readonly parts: readonly Uint8Array[];
}

export const jsonBody = (json: Uint8Array): RequestBody => ({
  contentType: 'application/json',
  parts: [json],
});

interface ExchangeRequest {
  /** Path below `baseUrl`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: a GET, else a POST. */
  readonly body?: RequestBody | undefined;
  /** Closes the connection at once, in whatever state the exchange is. */
  readonly signal: AbortSignal;
}

/** No byte in either direction for `timeoutMs`, while its reader kept up. */
class UpstreamSilence extends Error {
  constructor(readonly timeoutMs: number) {
    super(`silent for ${timeoutMs} ms`);
    this.name = 'UpstreamSilence';
  }
}

/**
 * One HTTP request and its answer. `fetch` would do but for TLS: a CA file needs undici's
 * own agent, which Node does not export. The agent is also the limit of concurrency: what
 * exceeds `maxConcurrent` waits in it for a connection.
 */
export class UpstreamExchange {
  readonly #agent: http.Agent;
  readonly #request: typeof http.request;
  readonly #closing = new AbortController();
  /** By path, of which an engine has few. Node connects to `hostname`; `host` has the port. */
  readonly #targets = new Map<string, http.RequestOptions & { readonly host: string }>();

  /** @param ca PEM; undefined: Node's own list */
  constructor(
    private readonly options: Pick<
      OpenAiHttpOptions,
      'baseUrl' | 'timeoutMs' | 'maxConcurrent' | 'insecureSkipVerify'
    >,
    ca: string | undefined,
  ) {
    const { maxConcurrent, insecureSkipVerify, baseUrl } = options;
    const limits = {
      keepAlive: true,
      maxSockets: maxConcurrent,
      maxFreeSockets: maxConcurrent,
    };
    const trust = { ca, rejectUnauthorized: !insecureSkipVerify };
    const isSecure = baseUrl.startsWith('https:');
    this.#request = isSecure ? https.request : http.request;
    this.#agent = isSecure ? new https.Agent({ ...limits, ...trust }) : new http.Agent(limits);
  }

  /**
   * Resolves with the head of the answer, whose body has to be read or destroyed. A
   * request on a kept connection that the upstream closed at that moment is sent again:
   * the upstream has not seen it.
   * @throws Error of the network, UpstreamSilence, the signal's reason, or
   *   that of `close`.
   */
  send(request: ExchangeRequest): Promise<http.IncomingMessage> {
    const { body } = request;
    // Not `AbortSignal.any`: what that makes stays known to both until
    // a garbage collection.
    const signals = [request.signal, this.#closing.signal];
    for (const signal of signals) signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const sent = this.#open(request);
      let answered: http.IncomingMessage | undefined;
      const abort = ({ target }: Event): void => {
        const reason = (target as AbortSignal).reason as Error;
        // A request that waits for a connection says nothing when it is destroyed.
        reject(reason);
        sent.destroy(reason);
      };
      for (const signal of signals) signal.addEventListener('abort', abort);
      sent.once('close', () =>
        signals.forEach(signal => signal.removeEventListener('abort', abort)),
      );
      sent.once('response', answer => resolve((answered = answer)));
      sent.on('timeout', () => {
        // What lies here unread was sent: the reader is slow, not the upstream.
        if (answered?.readableLength) return;
        (answered ?? sent).destroy(new UpstreamSilence(this.options.timeoutMs));
      });
      sent.on('error', error => {
        if (!answered && isStale(sent, error) && !signals.some(({ aborted }) => aborted))
          return resolve(this.send(request));
        reject(error);
        // A body without a length ends with its connection, also with one that was reset:
        // half an answer must not pass for a whole.
        answered?.destroy(error);
      });
      for (const part of body?.parts.slice(0, -1) ?? []) sent.write(part);
      sent.end(body?.parts.at(-1));
    });
  }

  /** Aborted by `close`. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Closes all connections. Idempotent: the first reason counts. */
  close(reason: Error): void {
    this.#closing.abort(reason);
    this.#agent.destroy();
  }

  #open({ path, headers, body }: ExchangeRequest): http.ClientRequest {
    const target = this.#targets.get(path) ?? targetAt(this.options.baseUrl + path);
    this.#targets.set(path, target);
    // A list of headers is written as it is; Node would collect an object's first.
    const all = Object.entries({
      host: target.host,
      ...headers,
      ...(body && bodyHeaders(body)),
    }).flat();
    return this.#request({
      ...target,
      method: body ? 'POST' : 'GET',
      timeout: this.options.timeoutMs,
      headers: all,
      agent: this.#agent,
    });
  }
}

function targetAt(text: string) {
  const url = new URL(text);
  return { ...urlToHttpOptions(url), host: url.host };
}

const isStale = (sent: http.ClientRequest, error: Error): boolean =>
  sent.reusedSocket && CUT_OFF.has(codeOf(error));

const bodyHeaders = ({ contentType, parts }: RequestBody): Record<string, string> => ({
  'content-type': contentType,
  'content-length': String(parts.reduce((sum, part) => sum + part.byteLength, 0)),
});

import * as http from 'node:http';
import * as https from 'node:https';
import { readFileSync } from 'node:fs';
import { urlToHttpOptions } from 'node:url';
import { retryAfterMs } from '../../platform/http/retry-after.js';
import { type RetryLimits } from '../../core/jobs/retry-policy.js';

export interface TargetTls {
  readonly insecureSkipVerify: boolean;
  readonly caCertFile?: string;
  readonly clientCertFile?: string;
  readonly clientKeyFile?: string;
}

/** Everything about one place that lines are sent to. */
export interface TargetSpec {
  /** Without a trailing slash; the endpoint of the batch follows it. */
  readonly url: string;
  readonly requestTimeoutMs: number;
  readonly retries: RetryLimits;
  readonly tls: TargetTls;
  /** It fetches a `file_url` itself, and strips nothing: our gateway. */
  readonly takesFileUrl: boolean;
  /** Value of the `Authorization` header, asked for each attempt: tokens end. */
  authorization(tenant: string): string | undefined;
}

export interface LineRequest {
  readonly path: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Asked for once per attempt. */
  body(): Uint8Array | AsyncIterable<Uint8Array>;
  readonly requestId: string;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

/** What came of one attempt. */
export type Answer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly body: Buffer;
      /** The target's own id of the request, else the one that was sent. */
      readonly requestId: string;
      readonly retryAfterMs?: number;
      readonly shouldRetry?: boolean;
    }
  | { readonly kind: 'transport'; readonly cause: 'refused' | 'lost' | 'timeout'; readonly message: string }
  | { readonly kind: 'too_large'; readonly message: string };

/** Errors before a byte of the request left: it cannot have been carried out. */
const REFUSED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);

/** Up to this a body goes with its head in one write. */
const ONE_WRITE_BYTES = 16_384;

/** One target and its pool of kept connections. */
export class LineTarget {
  readonly #agent: http.Agent;
  readonly #send: typeof http.request;
  /** Parsed addresses by path: there are few, and each line needs one. */
  readonly #addresses = new Map<string, http.RequestOptions>();

  constructor(
    readonly spec: TargetSpec,
    private readonly maxResponseBytes: number,
  ) {
    const pool = { keepAlive: true, maxFreeSockets: 1024 };
    const secure = spec.url.startsWith('https:');
    this.#agent = secure ? new https.Agent({ ...pool, ...tlsOptions(spec.tls) }) : new http.Agent(pool);
    this.#send = secure ? https.request : http.request;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Never rejects but for an aborted `signal`, with its reason. */
  async exchange(request: LineRequest): Promise<Answer> {
    // Before anything is opened: a request that nobody listens to would end the process with its error.
    request.signal.throwIfAborted();
    const outgoing = this.#open(request);
    let timedOut = false;
    const stop = (): void => void outgoing.destroy();
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, this.spec.requestTimeoutMs);
    request.signal.addEventListener('abort', stop, { once: true });
    try {
      return await this.#answer(await responseTo(outgoing, request.body()), request.requestId);
    } catch (error) {
      stop();
      request.signal.throwIfAborted();
      if (timedOut)
        return transport('timeout', `No answer within ${this.spec.requestTimeoutMs} ms; it is not sent again.`);
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (REFUSED.has(code)) return transport('refused', `The target cannot be reached (${code}).`);
      return transport('lost', `The connection to the target broke (${code || message}).`);
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', stop);
    }
  }

  #open(request: LineRequest): http.ClientRequest {
    const headers = this.#headers(request);
    return this.#send({ ...this.#address(request.path), method: 'POST', agent: this.#agent, headers });
  }

  #address(path: string): http.RequestOptions {
    let address = this.#addresses.get(path);
    if (!address) this.#addresses.set(path, (address = urlToHttpOptions(new URL(this.spec.url + path))));
    return address;
  }

  #headers({ contentType, bytes, requestId, tenant }: LineRequest): http.OutgoingHttpHeaders {
    const authorization = this.spec.authorization(tenant);
    return {
      'content-type': contentType,
      'content-length': bytes,
      'x-request-id': requestId,
      'x-priority': 'batch',
      'user-agent': 'switchyard-batch',
      ...(authorization === undefined ? {} : { authorization }),
    };
  }

  async #answer(answer: http.IncomingMessage, sentId: string): Promise<Answer> {
    const body = await bodyOf(answer, this.maxResponseBytes);
    if (!body) return { kind: 'too_large', message: `The answer has more than ${this.maxResponseBytes} bytes.` };
    const { headers, statusCode = 0 } = answer;
    const waitMs = retryAfterMs(headers, Date.now());
    const should = headers['x-should-retry'];
    return {
      kind: 'answer',
      status: statusCode,
      contentType: headers['content-type'] ?? '',
      body,
      requestId: String(headers['x-request-id'] ?? sentId),
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
      ...(should === 'true' || should === 'false' ? { shouldRetry: should === 'true' } : {}),
    };
  }
}

/** The response may come before the body is through, and is taken then. */
function responseTo(
  outgoing: http.ClientRequest,
  body: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on('response', resolve);
    outgoing.on('error', reject);
    void writeBody(outgoing, body).catch((error: Error) => outgoing.destroy(error));
  });
}

/** By events: for a short answer an async iterator costs as much as all the rest. @returns undefined for more than `maxBytes` */
function bodyOf(answer: http.IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) return;
      resolve(undefined);
      answer.destroy();
    });
    answer.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    answer.on('error', reject);
    answer.on('close', () => reject(new Error('closed before its end')));
  });
}

async function writeBody(outgoing: http.ClientRequest, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  // A text is joined to the head; Latin-1 is every byte as it is.
  if (Buffer.isBuffer(body) && body.length <= ONE_WRITE_BYTES)
    return void outgoing.end(body.toString('latin1'), 'latin1');
  if (body instanceof Uint8Array) return void outgoing.end(body);
  for await (const chunk of body) {
    if (!outgoing.write(chunk)) await drained(outgoing);
    if (outgoing.destroyed) return;
  }
  outgoing.end();
}

/** Also when the connection is gone: the error comes by another way. */
const drained = (outgoing: http.ClientRequest): Promise<void> =>
  new Promise(resolve => {
    outgoing.once('drain', resolve);
    outgoing.once('close', resolve);
  });

const transport = (cause: 'refused' | 'lost' | 'timeout', message: string): Answer => ({
  kind: 'transport',
  cause,
  message,
});

const tlsOptions = (tls: TargetTls): https.AgentOptions => ({
  rejectUnauthorized: !tls.insecureSkipVerify,
  ...(tls.caCertFile ? { ca: readFileSync(tls.caCertFile) } : {}),
  ...(tls.clientCertFile ? { cert: readFileSync(tls.clientCertFile) } : {}),
  ...(tls.clientKeyFile ? { key: readFileSync(tls.clientKeyFile) } : {}),
});

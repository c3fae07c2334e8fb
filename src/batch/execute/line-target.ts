import * as http from 'node:http';
import * as https from 'node:https';
import { readFileSync } from 'node:fs';
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

/** One target and its pool of kept connections. */
export class LineTarget {
  readonly #agent: http.Agent;
  readonly #send: typeof http.request;

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
    return this.#send(this.spec.url + request.path, {
      method: 'POST',
      agent: this.#agent,
      headers: this.#headers(request),
    });
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
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > this.maxResponseBytes)
        return { kind: 'too_large', message: `The answer has more than ${this.maxResponseBytes} bytes.` };
      chunks.push(chunk);
    }
    const { headers, statusCode = 0 } = answer;
    const waitMs = retryAfterMs(headers, Date.now());
    const should = headers['x-should-retry'];
    return {
      kind: 'answer',
      status: statusCode,
      contentType: headers['content-type'] ?? '',
      body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
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

async function writeBody(outgoing: http.ClientRequest, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
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

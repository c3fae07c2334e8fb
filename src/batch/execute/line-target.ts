import { readFileSync } from 'node:fs';
import { type IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
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
const REFUSED = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** One target and its pool of kept connections. */
export class LineTarget {
  readonly #pool: Pool;
  /** What stands before the endpoint in the address. */
  readonly #prefix: string;

  constructor(
    readonly spec: TargetSpec,
    private readonly maxResponseBytes: number,
  ) {
    const { origin, pathname } = new URL(spec.url);
    this.#prefix = pathname === '/' ? '' : pathname;
    // Limits stand in the gates, and the only time-out is the target's own.
    this.#pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0, connect: tlsOptions(spec.tls) });
  }

  close(): void {
    void this.#pool.destroy();
  }

  /** Never rejects but for an aborted `signal`, with its reason. */
  async exchange(request: LineRequest): Promise<Answer> {
    request.signal.throwIfAborted();
    const reply = new LineReply(this.maxResponseBytes);
    const stop = (): void => reply.stop(new Error('stopped'));
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      stop();
    }, this.spec.requestTimeoutMs);
    request.signal.addEventListener('abort', stop, { once: true });
    try {
      this.#pool.dispatch(this.#options(request), reply);
      return answerOf(await reply.whole, request.requestId, this.maxResponseBytes);
    } catch (error) {
      request.signal.throwIfAborted();
      if (timedOut)
        return transport('timeout', `No answer within ${this.spec.requestTimeoutMs} ms; it is not sent again.`);
      return brokenBy(error as NodeJS.ErrnoException);
    } finally {
      clearTimeout(timer);
      request.signal.removeEventListener('abort', stop);
    }
  }

  #options(request: LineRequest): Dispatcher.DispatchOptions {
    const body = request.body();
    return {
      path: this.#prefix + request.path,
      method: 'POST',
      headers: this.#headers(request),
      body: body instanceof Uint8Array ? body : Readable.from(body),
    };
  }

  #headers({ contentType, bytes, requestId, tenant }: LineRequest): Record<string, string> {
    const authorization = this.spec.authorization(tenant);
    return {
      'content-type': contentType,
      'content-length': String(bytes),
      'x-request-id': requestId,
      'x-priority': 'batch',
      'user-agent': 'switchyard-batch',
      ...(authorization === undefined ? {} : { authorization }),
    };
  }
}

interface WholeReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Absent: more than was allowed. */
  readonly body?: Buffer;
}

/** Takes one reply in. The response may come before the body is through, and is taken then. */
class LineReply implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  readonly #whole = Promise.withResolvers<WholeReply>();
  #controller: Dispatcher.DispatchController | undefined;
  #stopped: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;

  constructor(private readonly maxBytes: number) {}

  get whole(): Promise<WholeReply> {
    return this.#whole.promise;
  }

  /** Also before a connection was there. */
  stop(reason: Error): void {
    this.#stopped = reason;
    this.#controller?.abort(reason);
    this.#whole.reject(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(this.#stopped);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes <= this.maxBytes) return;
    this.#whole.resolve({ status: this.#status, headers: this.#headers });
    controller.abort(new Error('too large'));
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#whole.resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#whole.reject(error);
  }
}

function answerOf({ status, headers, body }: WholeReply, sentId: string, maxBytes: number): Answer {
  if (!body) return { kind: 'too_large', message: `The answer has more than ${maxBytes} bytes.` };
  const waitMs = retryAfterMs(headers, Date.now());
  const should = headers['x-should-retry'];
  return {
    kind: 'answer',
    status,
    contentType: headers['content-type'] ?? '',
    body,
    requestId: String(headers['x-request-id'] ?? sentId),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    ...(should === 'true' || should === 'false' ? { shouldRetry: should === 'true' } : {}),
  };
}

function brokenBy({ code = '', message }: NodeJS.ErrnoException): Answer {
  if (REFUSED.has(code)) return transport('refused', `The target cannot be reached (${code}).`);
  return transport('lost', `The connection to the target broke (${code || message}).`);
}

const transport = (cause: 'refused' | 'lost' | 'timeout', message: string): Answer => ({
  kind: 'transport',
  cause,
  message,
});

const tlsOptions = (tls: TargetTls): buildConnector.BuildOptions => ({
  rejectUnauthorized: !tls.insecureSkipVerify,
  ...(tls.caCertFile ? { ca: readFileSync(tls.caCertFile) } : {}),
  ...(tls.clientCertFile ? { cert: readFileSync(tls.clientCertFile) } : {}),
  ...(tls.clientKeyFile ? { key: readFileSync(tls.clientKeyFile) } : {}),
});

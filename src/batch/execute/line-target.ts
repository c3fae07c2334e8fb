import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { type RetryLimits } from '../../core/jobs/retry-policy.js';
import { type Answer } from './line-answer.js';
import { LineReply, OpenReplies } from './line-reply.js';

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
  /** Of the job: all its lines are given up at once. */
  readonly signal: AbortSignal;
}

/** One target and its pool of kept connections. */
export class LineTarget {
  readonly #pool: Pool;
  readonly #open = new OpenReplies();
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
    this.#open.close();
    void this.#pool.destroy();
  }

  /** Never rejects but for an aborted `signal`, with its reason. */
  exchange(request: LineRequest): Promise<Answer> {
    const { requestId, signal } = request;
    const { requestTimeoutMs: timeoutMs } = this.spec;
    const reply = new LineReply(this.#open, { requestId, signal, timeoutMs, maxBytes: this.maxResponseBytes });
    if (signal.aborted) reply.giveUp();
    else this.#pool.dispatch(this.#options(request), reply);
    return reply.answer;
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

const tlsOptions = (tls: TargetTls): buildConnector.BuildOptions => ({
  rejectUnauthorized: !tls.insecureSkipVerify,
  ...(tls.caCertFile ? { ca: readFileSync(tls.caCertFile) } : {}),
  ...(tls.clientCertFile ? { cert: readFileSync(tls.clientCertFile) } : {}),
  ...(tls.clientKeyFile ? { key: readFileSync(tls.clientKeyFile) } : {}),
});

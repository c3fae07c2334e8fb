import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import type * as Undici from 'undici';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { LONGEST_WINDOW_MS } from '../../core/jobs/completion-window.js';
import { Reachability, probePauses } from '../../core/jobs/reachability.js';
import { type RetryLimits } from '../../core/jobs/retry-policy.js';
import { TRACE_LINK_HEADER } from '../../platform/tracing/tracing.module.js';
import {
  type Answer,
  askedMs,
  failureCauseOf,
  LineReply,
  OpenReplies,
  transport,
} from './line-reply.js';

/** More than any endpoint answers to a line; what is larger becomes an error line. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Configuration of one target. */
interface TargetSpec {
  /**
   * Equivalent servers, at least one, without a trailing slash; the endpoint of the
   * batch is appended.
   */
  readonly urls: readonly string[];
  readonly requestTimeoutMs: number;
  readonly retries: RetryLimits;
  readonly tls: {
    readonly insecureSkipVerify: boolean;
    readonly caCertFile?: string;
    readonly clientCertFile?: string;
    readonly clientKeyFile?: string;
  };
  /** True for the gateway: it fetches a `file_url` itself. */
  readonly fetchesFileUrl: boolean;
  /** Value of the `Authorization` header, read for each attempt since tokens expire. */
  authorization(owner: LineOwner): string | undefined;
  /** The target refused a token of ours: later ones are new. Absent: the key is another's. */
  readonly renewTokens?: () => void;
}

/**
 * Whose job a line is of, what the key that made the job may use, and when its
 * completion window ends.
 */
type LineOwner = Pick<BatchJob, 'tenant' | 'terms'> &
  Partial<Pick<BatchJob, 'expiresAtMs' | 'traceparent'>>;

/** The body of a request to a target. */
export interface LineContent {
  readonly contentType: string;
  readonly bytes: number;
  /** Called once per attempt. */
  body(): Uint8Array | AsyncIterable<Uint8Array>;
}

interface LineRequest extends LineContent {
  readonly path: string;
  readonly requestId: string;
  readonly owner: LineOwner;
  /** Shared by all lines of the job. */
  readonly signal: AbortSignal;
}

/** One address of a target and its connection pool. */
class TargetAddress {
  readonly reachability: Reachability;
  /** Path before the endpoint. */
  readonly prefix: string;
  /** Lines in flight. */
  inFlight = 0;
  readonly #origin: string;
  readonly #tls: Undici.buildConnector.BuildOptions;
  #pool: Undici.Pool | undefined;

  constructor(url: string, { tls, retries }: TargetSpec) {
    this.reachability = new Reachability(probePauses(retries));
    const { origin, pathname } = new URL(url);
    this.prefix = pathname === '/' ? '' : pathname;
    this.#origin = origin;
    this.#tls = tlsOptions(tls);
  }

  /** Made for the first line: undici takes 5 MiB of a processor that has no batch. */
  async pool(): Promise<Undici.Pool> {
    const { Pool } = await import('undici');
    // Concurrency is limited by the gates; the only timeout is `request_timeout`.
    return (this.#pool ??= new Pool(this.#origin, {
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.#tls,
    }));
  }

  began(): void {
    this.inFlight += 1;
  }

  ended(): void {
    this.inFlight -= 1;
  }

  close(): void {
    void this.#pool?.destroy();
  }

  received(answer: Answer): void {
    if (failureCauseOf(answer) === 'away')
      this.reachability.failed(performance.now(), askedMs(answer));
    else if (answer.kind !== 'transport') this.reachability.returned();
  }
}

/**
 * One target. The reachable address with the fewest lines in flight gets the next line.
 */
export class LineTarget {
  readonly #addresses: readonly TargetAddress[];
  readonly #open = new OpenReplies();

  constructor(
    readonly spec: TargetSpec,
    private readonly maxAnswerBytes = MAX_ANSWER_BYTES,
  ) {
    this.#addresses = spec.urls.map(url => new TargetAddress(url, spec));
  }

  /** For logs. */
  get name(): string {
    return this.spec.urls.join(',');
  }

  /** Some address is reachable or may be probed again. */
  isReachable(nowMs: number): boolean {
    return this.#addresses.some(({ reachability }) => nowMs >= reachability.untilMs);
  }

  close(): void {
    this.#open.close();
    for (const address of this.#addresses) address.close();
  }

  /**
   * After a refused connection the next address is tried. Rejects only on abort, with
   * the signal's reason.
   */
  async exchange(request: LineRequest): Promise<Answer> {
    const refused = new Set<TargetAddress>();
    for (;;) {
      const address = this.#next(refused);
      const answer = this.#judged(await this.#exchange(address, request));
      address.received(answer);
      if (answer.kind !== 'transport' || answer.cause !== 'refused') return answer;
      if (
        refused.add(address).size === this.#addresses.length ||
        !this.isReachable(performance.now())
      )
        return answer;
    }
  }

  /**
   * A token of ours that is refused (a secret that was replaced, a clock that is ahead) says
   * nothing about the line: the address counts as unreachable, and its lines wait (D-52).
   */
  #judged(answer: Answer): Answer {
    const { renewTokens } = this.spec;
    if (!renewTokens || answer.kind !== 'answer' || answer.status !== 401) return answer;
    renewTokens();
    return transport('refused', 'The gateway refuses the token of the batch processor (401).');
  }

  /** An unreachable address is probed by one line at a time, after its pause. */
  #next(refused: ReadonlySet<TargetAddress>): TargetAddress {
    const nowMs = performance.now();
    const left = this.#addresses.filter(address => !refused.has(address));
    const due = left.find(
      ({ reachability, inFlight }) =>
        reachability.isAway && inFlight === 0 && nowMs >= reachability.untilMs,
    );
    if (due) return due;
    const reachable = left.filter(({ reachability }) => !reachability.isAway);
    return (reachable.length > 0 ? reachable : left).reduce((best, other) =>
      other.inFlight < best.inFlight ? other : best,
    );
  }

  async #exchange(address: TargetAddress, request: LineRequest): Promise<Answer> {
    const { requestId, signal } = request;
    const { requestTimeoutMs: timeoutMs } = this.spec;
    const reply = new LineReply(this.#open, {
      requestId,
      signal,
      timeoutMs,
      maxBytes: this.maxAnswerBytes,
    });
    address.began();
    try {
      const pool = await address.pool();
      if (signal.aborted) reply.abort();
      else pool.dispatch(this.#options(address, request), reply);
      return await reply.answer;
    } finally {
      address.ended();
    }
  }

  #options({ prefix }: TargetAddress, request: LineRequest): Undici.Dispatcher.DispatchOptions {
    const body = request.body();
    return {
      path: prefix + request.path,
      method: 'POST',
      headers: this.#headers(request),
      body: body instanceof Uint8Array ? body : Readable.from(body),
    };
  }

  #headers({ contentType, bytes, requestId, owner }: LineRequest): Record<string, string> {
    const authorization = this.spec.authorization(owner);
    const { expiresAtMs, traceparent } = owner;
    const left =
      this.spec.fetchesFileUrl && expiresAtMs !== undefined ? expiresAtMs - Date.now() : 0;
    // The clock of whoever made the batch may be ahead.
    const window = Math.min(Math.ceil(left), LONGEST_WINDOW_MS);
    return {
      'content-type': contentType,
      'content-length': String(bytes),
      'x-request-id': requestId,
      'x-priority': 'batch',
      // The gateway orders the lines of a tenant by it (D-26).
      ...(window > 0 && { 'x-switchyard-window-ms': String(window) }),
      ...(this.spec.fetchesFileUrl &&
        traceparent !== undefined && { [TRACE_LINK_HEADER]: traceparent }),
      'user-agent': 'switchyard-batch',
      ...(authorization !== undefined && { authorization }),
    };
  }
}

const fileOf = (path: string | undefined): Buffer | undefined =>
  path === undefined ? undefined : readFileSync(path);

const tlsOptions = (tls: TargetSpec['tls']): Undici.buildConnector.BuildOptions => ({
  rejectUnauthorized: !tls.insecureSkipVerify,
  ca: fileOf(tls.caCertFile),
  cert: fileOf(tls.clientCertFile),
  key: fileOf(tls.clientKeyFile),
});

import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { Absence, probePauses } from '../../core/jobs/absence.js';
import type { RetryLimits } from '../../core/jobs/retry-policy.js';
import { type Answer, LineReply, OpenReplies } from './line-reply.js';
import { failureCauseOf } from './line-verdict.js';

export interface TargetTls {
  readonly insecureSkipVerify: boolean;
  readonly caCertFile?: string;
  readonly clientCertFile?: string;
  readonly clientKeyFile?: string;
}

/** Everything about one place that lines are sent to. */
export interface TargetSpec {
  /** Of servers that do the same, without a trailing slash; the endpoint of the batch follows it. At least one. */
  readonly urls: readonly string[];
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

/** One address of a target and its pool of kept connections. */
class TargetAddress {
  readonly pool: Pool;
  readonly absence: Absence;
  /** What stands before the endpoint. */
  readonly prefix: string;
  /** Lines that it has now. */
  inFlight = 0;

  constructor(url: string, { tls, retries }: TargetSpec) {
    this.absence = new Absence(probePauses(retries));
    const { origin, pathname } = new URL(url);
    this.prefix = pathname === '/' ? '' : pathname;
    // Limits stand in the gates, and the only time-out is the target's own.
    this.pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0, connect: tlsOptions(tls) });
  }

  heard(answer: Answer): void {
    if (failureCauseOf(answer) === 'away')
      this.absence.failed(performance.now(), answer.kind === 'answer' ? answer.retryAfterMs : 0);
    else if (answer.kind !== 'transport') this.absence.returned();
  }
}

/** One target: the address that is there and has the fewest lines gets the next one. */
export class LineTarget {
  readonly #addresses: readonly TargetAddress[];
  readonly #open = new OpenReplies();

  constructor(
    readonly spec: TargetSpec,
    private readonly maxResponseBytes: number,
  ) {
    this.#addresses = spec.urls.map(url => new TargetAddress(url, spec));
  }

  /** For logs. */
  get name(): string {
    return this.spec.urls.join(',');
  }

  /** Some address is not known to be away, or may be looked for again. */
  isReachable(nowMs: number): boolean {
    return this.#addresses.some(({ absence }) => nowMs >= absence.untilMs);
  }

  close(): void {
    this.#open.close();
    for (const { pool } of this.#addresses) void pool.destroy();
  }

  /** A line that an address refuses goes to the next one: nothing was sent. Rejects only for an aborted `signal`, with its reason. */
  async exchange(request: LineRequest): Promise<Answer> {
    const refusing = new Set<TargetAddress>();
    for (;;) {
      const address = this.#next(refusing);
      const answer = await this.#exchange(address, request);
      address.heard(answer);
      if (answer.kind !== 'transport' || answer.cause !== 'refused') return answer;
      if (refusing.add(address).size === this.#addresses.length || !this.isReachable(performance.now())) return answer;
    }
  }

  /** One that is away is looked for by one line at a time, once its pause is over. */
  #next(refusing: ReadonlySet<TargetAddress>): TargetAddress {
    const nowMs = performance.now();
    const left = this.#addresses.filter(address => !refusing.has(address));
    const due = left.find(({ absence, inFlight }) => absence.isAway && inFlight === 0 && nowMs >= absence.untilMs);
    if (due) return due;
    const there = left.filter(({ absence }) => !absence.isAway);
    return (there.length > 0 ? there : left).reduce((best, other) => (other.inFlight < best.inFlight ? other : best));
  }

  async #exchange(address: TargetAddress, request: LineRequest): Promise<Answer> {
    const { requestId, signal } = request;
    const { requestTimeoutMs: timeoutMs } = this.spec;
    const reply = new LineReply(this.#open, { requestId, signal, timeoutMs, maxBytes: this.maxResponseBytes });
    address.inFlight += 1;
    try {
      if (signal.aborted) reply.giveUp();
      else address.pool.dispatch(this.#options(address, request), reply);
      return await reply.answer;
    } finally {
      address.inFlight -= 1;
    }
  }

  #options({ prefix }: TargetAddress, request: LineRequest): Dispatcher.DispatchOptions {
    const body = request.body();
    return {
      path: prefix + request.path,
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

import { open, readFile } from 'node:fs/promises';
import { type IncomingMessage } from 'node:http';
import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { BehaviorSubject } from 'rxjs';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { pause } from '../../../platform/clock/pause.js';
import { isLoopback } from '../../../platform/http/networks.js';
import {
  retryAfterMs,
  REAL_TIMING,
  type RetryTiming,
} from '../../../platform/http/retry-after.js';
import { contextAfter, traceparentOf } from '../../../platform/tracing/tracing.module.js';
import { type OpenAiHttpOptions } from './options.js';
import {
  bodyOf,
  failureOfNetwork,
  type RequestBody,
  textOf,
  UpstreamExchange,
} from './upstream-exchange.js';
import { failureOfStatus, problemIn, UpstreamFailure } from './upstream-failure.js';

/** As OpenAI's clients. */
const OWN_WAITS = { firstMs: 500, longestMs: 8000 };

/**
 * Attempts until one succeeds, fails for good, or none are left; never another one once
 * `signal` has aborted.
 *
 * @throws DomainError of the last attempt, the abort's reason, or whatever
 *   else `attempt` threw.
 */
export async function withRetries<T>({
  attempt,
  policy: { retries, maxRetryWaitMs },
  signal,
  timing,
}: {
  readonly attempt: () => Promise<T>;
  readonly policy: Pick<OpenAiHttpOptions, 'retries' | 'maxRetryWaitMs'>;
  readonly signal: AbortSignal;
  readonly timing: RetryTiming;
}): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof UpstreamFailure)) throw error;
      if (error.retry === undefined || tries > retries) {
        if (tries > 1) error.error.message += ` (${tries} attempts)`;
        throw error.error;
      }
      const { afterMs } = error.retry;
      const waitMs = afterMs ?? backoffMs(tries, OWN_WAITS, () => timing.random());
      await timing.sleep(Math.min(maxRetryWaitMs, waitMs), signal);
    }
  }
}

/** Any key is shorter; a longer file is another file. */
const MAX_BYTES = 4096;
const OTHERS_MAY_READ = 0o004;

/**
 * Reads a bearer key. A file that everyone may read is taken with a warning, not refused:
 * the secrets of Docker and Kubernetes come with mode 0444 and 0644.
 *
 * @throws Error naming the file and what is wrong with it, never its content.
 */
async function readApiKey(path: string) {
  const { content, mode } = await readSmallFile(path);
  const key = content.trim();
  if (key === '')
    throw new Error(
      `options.apiKeyFile: ${path} is empty; write the key of the upstream into it`,
    );
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new Error(
      `options.apiKeyFile: ${path} must hold one line with the key and nothing else`,
    );
  // Said once to the operator; the key is not in it.
  const warning = `${path} holds a key and everyone may read it; chmod 600 ${path}`;
  return { key, warning: mode & OTHERS_MAY_READ ? warning : undefined };
}

async function readSmallFile(path: string) {
  try {
    await using file = await open(path, 'r');
    const { mode, size } = await file.stat();
    if (size > MAX_BYTES) throw new Error(`${size} bytes are too many for a key`);
    return { content: await file.readFile('utf8'), mode };
  } catch (error) {
    throw unreadable('apiKeyFile', path, error as Error);
  }
}

async function readAuthorities(path: string): Promise<string> {
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    throw unreadable('caFile', path, error as Error);
  });
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  throw new Error(`options.caFile: ${path} holds no certificate in PEM form`);
}

const unreadable = (option: string, path: string, cause: Error): Error =>
  new Error(`options.${option}: cannot read ${path}: ${cause.message}`, { cause });

interface UpstreamRequest {
  /** Below `baseUrl`, such as `/audio/speech`. */
  readonly path: string;
  readonly accept: string;
  /** Absent: a GET, else a POST. */
  readonly body?: RequestBody;
  readonly signal: AbortSignal;
  /**
   * W3C Trace Context; absent: the call has no span, and tells the upstream of no trace.
   */
  readonly traceparent?: string | undefined;
}

interface UpstreamCall<T> extends UpstreamRequest {
  /**
   * Takes the body of a 2xx answer. Its own errors pass through and are never retried,
   * except an UpstreamFailure that says so.
   */
  read(body: AsyncIterable<Buffer>, answer: IncomingMessage): Promise<T>;
}

/**
 * A 2xx answer whose body is read at its reader's pace; the signal that it was asked with
 * ends it. Disposing of it closes its connection unless all was read.
 */
interface OpenAnswer extends Disposable {
  readonly head: IncomingMessage;
  /** Fails with `UpstreamFailure` when the network does. */
  readonly body: AsyncIterable<Buffer>;
}

const ERROR_BYTES = 65_536;
/**
 * Pauses between the probes of an upstream that is away; the longest one is also the
 * limit of a probe.
 */
const PROBES = { firstMs: 250, longestMs: 5000 };

/**
 * The server behind the engine: its key, its connections, its failures. Nothing is read
 * or opened before `open()`.
 */
export class Upstream {
  #exchange: UpstreamExchange | undefined;
  #key: string | undefined;
  /**
   * True from a connection that failed or was cut until the upstream answers a probe,
   * whatever it answers.
   */
  readonly away$ = new BehaviorSubject(false);

  constructor(
    private readonly options: OpenAiHttpOptions,
    private readonly timing: RetryTiming = REAL_TIMING,
  ) {}

  /**
   * @returns what the operator should be warned of. @throws Error naming the file that
   *   cannot be used.
   */
  async open(): Promise<readonly string[]> {
    const { apiKeyFile, caFile, baseUrl } = this.options;
    const read = apiKeyFile === undefined ? undefined : await readApiKey(apiKeyFile);
    const ca = caFile === undefined ? undefined : await readAuthorities(caFile);
    this.#key = read?.key;
    this.#exchange = new UpstreamExchange(this.options, ca);
    const isBare = baseUrl.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname);
    const warnings = read?.warning === undefined ? [] : [read.warning];
    return read && isBare
      ? [...warnings, 'options.baseUrl is http: the key travels unencrypted']
      : warnings;
  }

  /**
   * @throws DomainError; the signal's reason once it aborts, with the connection closed.
   */
  call<T>(call: UpstreamCall<T>): Promise<T> {
    return this.#retried(call.signal, () => this.attempt(call));
  }

  /**
   * Retries like `call`, until there is an answer; reading it is the caller's, and
   * is tried once.
   * @throws DomainError
   */
  stream(request: UpstreamRequest): Promise<OpenAnswer> {
    return this.#retried(request.signal, () => this.#answered(request));
  }

  /** Idempotent. */
  close(): void {
    this.#exchange?.close(
      new DomainError('shutting_down', 'The worker is shutting down.'),
    );
  }

  /**
   * Once, without retries. @throws UpstreamFailure, the signal's reason, or
   * what `read` threw.
   */
  async attempt<T>(call: UpstreamCall<T>): Promise<T> {
    using answer = await this.#answered(call);
    return await call.read(answer.body, answer.head);
  }

  #retried<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
    return withRetries({ attempt, policy: this.options, signal, timing: this.timing });
  }

  /** @throws UpstreamFailure unless the status is 2xx. */
  async #answered(request: UpstreamRequest): Promise<OpenAnswer> {
    const { modelId } = this.options;
    const span = spanOf(request);
    const head = await this.#send(request, span).catch((error: unknown) => {
      span
        ?.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message })
        .end();
      throw error;
    });
    // What was not read to its end would keep the connection, and the upstream at work.
    const close = (): void => {
      if (!head.readableEnded) head.destroy();
      span?.end();
    };
    const status = head.statusCode ?? 0;
    span?.setAttribute('http.response.status_code', status);
    if (status >= 200 && status < 300)
      return { head, body: bodyOf(head, modelId), [Symbol.dispose]: close };
    try {
      const text = await textOf(bodyOf(head, modelId), ERROR_BYTES);
      const { headers } = head;
      throw failureOfStatus(modelId, {
        status,
        headers,
        problem: problemIn(text, this.#key),
        retryAfterMs: retryAfterMs(headers, Date.now()),
      });
    } finally {
      close();
    }
  }

  async #send(
    { path, accept, body, signal }: UpstreamRequest,
    span?: Span,
  ): Promise<IncomingMessage> {
    const { modelId } = this.options;
    if (!this.#exchange)
      throw new DomainError('engine_failed', `Model '${modelId}' is not loaded.`);
    const headers: Record<string, string> = { ...this.options.headers, accept };
    if (this.#key !== undefined) headers.authorization = `Bearer ${this.#key}`;
    const traceparent = span && traceparentOf(span.spanContext());
    if (traceparent !== undefined) headers.traceparent = traceparent;
    try {
      return await this.#exchange.send({ path, headers, signal, body });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DomainError) throw error;
      const failure = failureOfNetwork(modelId, error as Error);
      if (failure.error.code !== 'engine_failed')
        void this.#probe(this.#exchange.closing);
      throw failure;
    }
  }

  /** Probes the upstream until it answers. */
  async #probe(closing: AbortSignal): Promise<void> {
    if (this.away$.value) return;
    this.away$.next(true);
    for (let failures = 1; this.away$.value && !closing.aborted; failures++) {
      await pause(backoffMs(failures, PROBES), closing);
      const signal = AbortSignal.timeout(PROBES.longestMs);
      await this.#send({ path: '/models', accept: 'application/json', signal }).then(
        answer => {
          answer.destroy();
          this.away$.next(false);
        },
        () => undefined,
      );
    }
  }
}

/** One attempt. While only the caller traces, it stands for the caller's own span. */
const spanOf = ({ path, traceparent }: UpstreamRequest): Span | undefined =>
  traceparent === undefined
    ? undefined
    : trace
        .getTracer('switchyard')
        .startSpan(
          `upstream ${path}`,
          { kind: SpanKind.CLIENT },
          contextAfter(traceparent),
        );

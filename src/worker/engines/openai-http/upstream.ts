import { type IncomingMessage } from 'node:http';
import { readFile } from 'node:fs/promises';
import { DomainError } from '../../../core/shared/domain-error.js';
import { retryAfterMs } from '../../../platform/http/retry-after.js';
import { REAL_TIMING, type RetryTiming } from '../../../platform/http/retry-timing.js';
import { readApiKey } from './api-key-file.js';
import { type OpenAiHttpOptions } from './openai-http-options.js';
import { withRetries } from './retry-policy.js';
import { bodyOf, failureOfNetwork, textOf } from './upstream-answer.js';
import { type RequestBody, UpstreamExchange } from './upstream-exchange.js';
import { failureOfStatus } from './upstream-failure.js';
import { problemIn } from './upstream-problem.js';

export interface UpstreamCall<T> {
  /** Below `baseUrl`, such as `/audio/speech`. */
  readonly path: string;
  readonly accept: string;
  /** Absent: a GET, else a POST. */
  readonly body?: RequestBody;
  readonly signal: AbortSignal;
  /** Takes the body of a 2xx answer. Its own errors pass through and are never retried, except an UpstreamFailure that says so. */
  read(body: AsyncIterable<Buffer>, answer: IncomingMessage): Promise<T>;
}

const ERROR_BYTES = 65_536;

/** The server behind the engine: its key, its connections, its failures. Nothing is read or opened before `open()`. */
export class Upstream {
  readonly #closing = new AbortController();
  #exchange: UpstreamExchange | undefined;
  #key: string | undefined;

  constructor(
    private readonly options: OpenAiHttpOptions,
    private readonly timing: RetryTiming = REAL_TIMING,
  ) {}

  /** @returns what the operator should be warned of. @throws Error naming the file that cannot be used. */
  async open(): Promise<readonly string[]> {
    const { apiKeyFile, caFile, baseUrl } = this.options;
    const read = apiKeyFile === undefined ? undefined : await readApiKey(apiKeyFile);
    const ca = caFile === undefined ? undefined : await readAuthorities(caFile);
    this.#key = read?.key;
    this.#exchange = new UpstreamExchange({ ...this.options, ca });
    const bare = read !== undefined && baseUrl.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname);
    return [read?.warning, bare ? `options.baseUrl is http: the key travels unencrypted` : undefined].filter(
      warning => warning !== undefined,
    );
  }

  /** @throws DomainError; the signal's reason once it aborts, with the connection closed. */
  call<T>(call: UpstreamCall<T>): Promise<T> {
    const signal = AbortSignal.any([call.signal, this.#closing.signal]);
    const attempt = (): Promise<T> => this.attempt({ ...call, signal });
    return withRetries({ attempt, policy: this.options, signal, timing: this.timing });
  }

  /** Idempotent. */
  close(): void {
    this.#closing.abort(new DomainError('shutting_down', 'The worker is shutting down.'));
    this.#exchange?.close();
  }

  /** Once, without retries. @throws UpstreamFailure, the signal's reason, or what `read` threw. */
  async attempt<T>(call: UpstreamCall<T>): Promise<T> {
    const { modelId } = this.options;
    const answer = await this.#send(call);
    try {
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return await call.read(bodyOf(answer, modelId), answer);
      const problem = problemIn(await textOf(bodyOf(answer, modelId), ERROR_BYTES), this.#key);
      const { headers } = answer;
      throw failureOfStatus(modelId, { status, headers, problem, retryAfterMs: retryAfterMs(headers, Date.now()) });
    } finally {
      // What was not read to its end would keep the connection, and the upstream at work.
      if (!answer.readableEnded) answer.destroy();
    }
  }

  async #send<T>({ path, accept, body, signal }: UpstreamCall<T>): Promise<IncomingMessage> {
    const { modelId, baseUrl } = this.options;
    if (!this.#exchange) throw new DomainError('engine_failed', `Model '${modelId}' is not loaded.`);
    const headers: Record<string, string> = { ...this.options.headers, accept };
    if (this.#key !== undefined) headers.authorization = `Bearer ${this.#key}`;
    const method = body ? 'POST' : 'GET';
    try {
      return await this.#exchange.send({ url: baseUrl + path, method, headers, signal, ...(body && { body }) });
    } catch (error) {
      signal.throwIfAborted();
      throw failureOfNetwork(modelId, error as Error);
    }
  }
}

async function readAuthorities(path: string): Promise<string> {
  try {
    const pem = await readFile(path, 'utf8');
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
  } catch (error) {
    throw new Error(`options.caFile: cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  throw new Error(`options.caFile: ${path} holds no certificate in PEM form`);
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

import { type IncomingMessage } from 'node:http';
import { type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import {
  cancelledError,
  type EngineCapability,
  type EngineInfo,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { BehaviorSubject } from 'rxjs';
import { DomainError } from '../../../core/errors/domain-error.js';
import { REAL_TIMING, retryAfterMs, type RetryTiming } from '../../../platform/http/retry-after.js';
import { contextAfter, traceparentOf } from '../../../platform/tracing/tracing.module.js';
import { type OpenAiHttpOptions } from './options.js';
import { readCredentials } from './upstream-credentials.js';
import {
  bodyOf,
  failureOfNetwork,
  type RequestBody,
  textOf,
  upstreamAway,
  UpstreamExchange,
} from './upstream-exchange.js';
import { failureOfStatus, problemIn, withRetries } from './upstream-failure.js';

interface UpstreamRequest {
  /** Path below `baseUrl`, such as `/audio/speech`. */
  readonly path: string;
  readonly accept: string;
  /** Sent besides the headers of the options; they win where both have one. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Absent: a GET, else a POST. */
  readonly body?: RequestBody;
  readonly signal: AbortSignal;
  /**
   * W3C Trace Context; absent: the call has no span, and tells the upstream of no trace.
   */
  readonly traceparent?: string | undefined;
}

const LONGEST_PROBE_MS = 5000;
const LONGEST_LIST_BYTES = 1_048_576;
const ERROR_BYTES = 65_536;
/**
 * Pauses between the probes of an upstream that is away; the longest one is also the
 * limit of a probe.
 */
const PROBES = { firstMs: 250, longestMs: 5000 };

function madeOn({ created }: Fields): string {
  if (typeof created !== 'number' || !(created > 0 && created < 1e11)) return '';
  return ` (${new Date(created * 1000).toISOString().slice(0, 10)})`;
}

function names(listed: readonly Fields[]): string {
  const ids = listed.map(({ id }) => String(id));
  if (ids.length === 0) return '';
  return `; it lists ${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', …' : ''}`;
}

/**
 * An upstream cannot be asked what it can do: of what the protocol carries, the entry in
 * `models.yaml` tells what is there. A worker may run `maxConcurrent` calls of `maxBatch`
 * items, so together they stay within the upstream's limit.
 */
function unloadedInfo(
  options: OpenAiHttpOptions,
  carried: readonly EngineCapability[],
): EngineInfo {
  const { capabilities, languages, maxBatch, maxConcurrent } = options;
  return {
    engine: 'openai-http',
    device: 'remote',
    revision: '',
    maxBatch,
    maxConcurrent: Math.floor(maxConcurrent / maxBatch),
    streams: 0,
    capabilities:
      capabilities.length === 0 ? carried : carried.filter(name => capabilities.includes(name)),
    languages,
  };
}

/**
 * An engine that is another server: its key, its connections, its failures. Nothing is
 * read or opened before `load()`; it is asked then what it has.
 */
export abstract class UpstreamEngine {
  /**
   * Called while it loads. A process warning is a line on stderr, which the supervisor of
   * a process keeps.
   */
  onWarning: (text: string) => void = text => process.emitWarning(text, 'UpstreamWarning');
  /**
   * True from a connection that failed or was cut until the upstream answers a probe,
   * whatever it answers.
   */
  readonly away$ = new BehaviorSubject(false);
  info: EngineInfo;
  #exchange: UpstreamExchange | undefined;
  #key: string | undefined;

  /** @param carried what the protocol can ask an upstream of this kind for */
  constructor(
    protected readonly options: OpenAiHttpOptions,
    carried: readonly EngineCapability[],
    private readonly timing: RetryTiming = REAL_TIMING,
  ) {
    this.info = unloadedInfo(options, carried);
  }

  /**
   * Opens the upstream and says what the operator should know. @throws Error naming the
   * file that cannot be used.
   */
  async load(): Promise<void> {
    const { key, ca, warnings } = await readCredentials(this.options);
    this.#key = key;
    this.#exchange = new UpstreamExchange(this.options, ca);
    const { revision, warning } = await this.#lookAtModels();
    for (const text of [...warnings, warning])
      if (text !== undefined) this.onWarning(`Model '${this.options.modelId}': ${text}`);
    this.info = { ...this.info, revision };
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#exchange?.close(new DomainError('shutting_down', 'The worker is shutting down.'));
    return Promise.resolve();
  }

  /**
   * @param read takes the body of a 2xx answer. Its own errors pass through and are never
   *   retried, except an UpstreamFailure that says so
   * @throws DomainError; the signal's reason once it aborts, with the connection closed
   */
  protected call<T>(
    request: UpstreamRequest,
    read: (body: AsyncIterable<Buffer>, answer: IncomingMessage) => Promise<T>,
  ): Promise<T> {
    return this.#retried(request.signal, async () => {
      using answer = await this.#answered(request);
      return await read(answer.body, answer.head);
    });
  }

  /**
   * Retries like `call`, until there is an answer. Reading it is the caller's, at the
   * caller's pace, and is tried once: it fails with `UpstreamFailure` when the network
   * does, and the signal ends it. Disposing of the answer closes its connection unless all
   * was read.
   * @throws DomainError
   */
  protected stream(request: UpstreamRequest) {
    return this.#retried(request.signal, () => this.#answered(request));
  }

  /** Side by side; whatever goes wrong is the outcome of its item (D-05). */
  protected each<Item extends { readonly requestId: string; readonly signal: AbortSignal }, Value>(
    batch: readonly Item[],
    ask: (item: Item) => Promise<Value>,
  ): Promise<ItemOutcome<Value>[]> {
    const outcome = async (item: Item): Promise<ItemOutcome<Value>> => {
      try {
        item.signal.throwIfAborted();
        return succeeded(await ask(item));
      } catch (error) {
        return failed(item.signal.aborted ? cancelledError(item.requestId) : error);
      }
    };
    return Promise.all(batch.map(outcome));
  }

  /**
   * One look at `GET /models`. An upstream that is away, or that has no such route, is no
   * reason not to start: the worker would only restart for ever. It is ready as soon as
   * the upstream answers.
   * @returns as revision what ran, as far as the upstream tells: `whisper-large-v3
   *   (2024-05-01) at gpu-7:8000`
   */
  async #lookAtModels() {
    const { baseUrl, model, timeoutMs } = this.options;
    const { host } = new URL(baseUrl);
    const revision = `${model} at ${host}`;
    try {
      using answer = await this.#answered({
        path: '/models',
        accept: 'application/json',
        signal: AbortSignal.timeout(Math.min(LONGEST_PROBE_MS, timeoutMs)),
      });
      const list = await textOf(answer.body, LONGEST_LIST_BYTES);
      const { data } = (parseBoundedJson(list) ?? {}) as { readonly data?: unknown };
      if (!Array.isArray(data)) throw new Error('the answer has no `data`');
      const listed = data.filter(isObject);
      const found = listed.find(({ id }) => id === model);
      if (found) return { revision: `${model}${madeOn(found)} at ${host}` };
      const warning = `${baseUrl}/models does not list options.model '${model}'${names(listed)}`;
      return { revision, warning };
    } catch (error) {
      const { message } = error as Error;
      return {
        revision,
        warning: `${baseUrl}/models gave no list of models: ${message}`,
      };
    }
  }

  /**
   * An upstream that is away is asked by probes alone: a call that it cut would count
   * against the request, although the request is not the cause (D-40).
   */
  #retried<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    const attempt = async (): Promise<T> => {
      if (this.away$.value) throw upstreamAway(this.options.modelId);
      return await ask();
    };
    return withRetries({ attempt, policy: this.options, signal, timing: this.timing });
  }

  /**
   * Once, without retries. @throws UpstreamFailure unless the status is 2xx; the signal's
   * reason
   */
  async #answered(request: UpstreamRequest) {
    const { modelId } = this.options;
    const span = spanOf(request);
    const head = await this.#send(request, span).catch((error: unknown) => {
      span?.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).message }).end();
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
    { path, accept, headers: own, body, signal }: UpstreamRequest,
    span?: Span,
  ): Promise<IncomingMessage> {
    const { modelId } = this.options;
    if (!this.#exchange)
      throw new DomainError('engine_failed', `Model '${modelId}' is not loaded.`);
    const headers: Record<string, string> = { ...this.options.headers, ...own, accept };
    if (this.#key !== undefined) headers.authorization = `Bearer ${this.#key}`;
    const traceparent = span && traceparentOf(span.spanContext());
    if (traceparent !== undefined) headers.traceparent = traceparent;
    try {
      return await this.#exchange.send({ path, headers, signal, body });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DomainError) throw error;
      const failure = failureOfNetwork(modelId, error as Error);
      if (failure.error.code !== 'engine_failed') void this.#probe(this.#exchange.closing);
      throw failure;
    }
  }

  /** Probes the upstream until it answers. */
  async #probe(closing: AbortSignal): Promise<void> {
    if (this.away$.value) return;
    this.away$.next(true);
    for (let failures = 0; this.away$.value && !closing.aborted; failures++) {
      if (failures > 0) await pause(backoffMs(failures, PROBES), closing);
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
        .startSpan(`upstream ${path}`, { kind: SpanKind.CLIENT }, contextAfter(traceparent));

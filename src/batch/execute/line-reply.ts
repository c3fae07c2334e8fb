import { type IncomingHttpHeaders } from 'node:http';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { type Dispatcher } from 'undici';
import { causeOf } from '../../core/jobs/retry-policy.js';
import { isUnconnected } from '../../platform/http/connections.js';
import { retryAfterMs } from '../../platform/http/retry-after.js';

/** Outcome of one attempt. */
export type Answer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly body: Buffer;
      /** The target's own id of the request, else the one that was sent. */
      readonly requestId: string;
      /** `error.code` of what says that the target is away. */
      readonly code?: string;
      readonly retryAfterMs?: number;
      readonly shouldRetry?: boolean;
    }
  | {
      readonly kind: 'transport';
      readonly cause: 'refused' | 'lost' | 'timeout';
      readonly message: string;
    }
  | { readonly kind: 'too_large'; readonly message: string };

export const isGood = (answer: Answer): boolean =>
  answer.kind === 'answer' && answer.status >= 200 && answer.status < 300;

/** @returns undefined if the attempt succeeded, or a retry would fail as well */
export const failureCauseOf = (answer: Answer) =>
  isGood(answer) || answer.kind === 'too_large' ? undefined : causeOf(answer);

/** Milliseconds to wait that the answer asks for; undefined: none. */
export const askedMs = (answer: Answer): number | undefined =>
  answer.kind === 'answer' ? answer.retryAfterMs : undefined;

/** @param sentId the id that the request had */
export function answerOf(
  {
    status,
    headers,
    body,
  }: {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  },
  sentId: string,
): Answer {
  const should = headers['x-should-retry'];
  return {
    kind: 'answer',
    status,
    contentType: headers['content-type'] ?? '',
    body,
    requestId: String(headers['x-request-id'] ?? sentId),
    code: status === 503 || status === 502 ? codeIn(body) : undefined,
    retryAfterMs: retryAfterMs(headers, Date.now()),
    shouldRetry: should === 'true' ? true : should === 'false' ? false : undefined,
  };
}

/** Larger bodies are not parsed. */
const MAX_ERROR_BYTES = 16_384;

/** `error.code` of OpenAI's error envelope. */
function codeIn(body: Buffer): string | undefined {
  if (body.length > MAX_ERROR_BYTES) return undefined;
  try {
    const { error } = parseBoundedJson(body.toString()) as { error?: { code?: unknown } };
    return typeof error?.code === 'string' ? error.code : undefined;
  } catch {
    return undefined;
  }
}

export function brokenBy(error: NodeJS.ErrnoException): Answer {
  const { code = '', message } = error;
  if (isUnconnected(error)) return transport('refused', `The target cannot be reached (${code}).`);
  return transport('lost', `The connection to the target broke (${code || message}).`);
}

const timedOutAfter = (timeoutMs: number): Answer =>
  transport('timeout', `No answer within ${timeoutMs} ms; the request is not retried.`);

const tooLarge = (maxBytes: number): Answer => ({
  kind: 'too_large',
  message: `The answer has more than ${maxBytes} bytes.`,
});

export const transport = (cause: 'refused' | 'lost' | 'timeout', message: string): Answer => ({
  kind: 'transport',
  cause,
  message,
});

/** Reads one response. It may arrive before the request body is sent completely. */
export class LineReply implements Dispatcher.DispatchHandler {
  /** Monotonic time of its timeout. */
  readonly dueMs: number;
  /** Index in the open replies of its target; undefined once settled. */
  place: number | undefined;
  readonly #answer = Promise.withResolvers<Answer>();
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #stopped: Error | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;

  constructor(
    private readonly open: OpenReplies,
    private readonly options: {
      /** The id that was sent. */
      readonly requestId: string;
      readonly maxBytes: number;
      readonly timeoutMs: number;
      /** Aborts the line. */
      readonly signal: AbortSignal;
    },
  ) {
    this.dueMs = performance.now() + options.timeoutMs;
    open.add(this);
  }

  get signal(): AbortSignal {
    return this.options.signal;
  }

  /** Rejects only on abort, with the signal's reason. */
  get answer(): Promise<Answer> {
    return this.#answer.promise;
  }

  moved(place: number | undefined): void {
    this.place = place;
  }

  timeOut(): void {
    this.#settle(timedOutAfter(this.options.timeoutMs));
    this.#stop();
  }

  abort(): void {
    this.open.delete(this);
    this.#answer.reject(this.signal.reason as Error);
    this.#stop();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(this.#stopped);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#bytes <= this.options.maxBytes) return;
    this.#settle(tooLarge(this.options.maxBytes));
    this.#stop();
  }

  onResponseEnd(): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#settle(
      answerOf({ status: this.#status, headers: this.#headers, body }, this.options.requestId),
    );
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#settle(brokenBy(error));
  }

  /** Only the first call has an effect. */
  #settle(answer: Answer): void {
    this.open.delete(this);
    this.#answer.resolve(answer);
  }

  /** Drops the rest of the response; works also before there is a connection. */
  #stop(): void {
    this.#stopped = new Error('stopped');
    this.#controller?.abort(this.#stopped);
  }
}

/**
 * The open replies of one target. One timer serves them all, and one abort listener all
 * lines of a job. An array instead of a Set: V8 keeps the outgrown tables of a Set, with
 * their entries, until a full garbage collection.
 */
export class OpenReplies {
  readonly #open: LineReply[] = [];
  readonly #signals = new WeakSet<AbortSignal>();
  #timer: NodeJS.Timeout | undefined;

  add(reply: LineReply): void {
    reply.moved(this.#open.push(reply) - 1);
    if (!this.#timer) this.#wakeAt(reply.dueMs);
    const { signal } = reply;
    if (this.#signals.has(signal)) return;
    this.#signals.add(signal);
    signal.addEventListener('abort', () => this.#abort(signal), { once: true });
  }

  delete(reply: LineReply): void {
    const { place } = reply;
    if (place === undefined) return;
    reply.moved(undefined);
    const last = this.#open.pop()!;
    if (last === reply) return;
    this.#open[place] = last;
    last.moved(place);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #abort(signal: AbortSignal): void {
    for (const reply of this.#open.filter(other => other.signal === signal)) reply.abort();
  }

  #wakeAt(dueMs: number): void {
    this.#timer = setTimeout(
      () => this.#timeOut(),
      Math.max(1, Math.ceil(dueMs - performance.now())),
    ).unref();
  }

  #timeOut(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (const reply of this.#open.filter(({ dueMs }) => dueMs <= nowMs)) reply.timeOut();
    const soonestMs = Math.min(...this.#open.map(({ dueMs }) => dueMs));
    if (soonestMs < Infinity) this.#wakeAt(soonestMs);
  }
}

import { randomUUID } from 'node:crypto';
import { type EventEmitter } from 'node:events';
import { type CallOptions, Metadata, status, type StatusObject } from '@grpc/grpc-js';
import { type ModelKind } from '@switchyard/engine-api/engine.js';
import { RequestPriority } from '@switchyard/engine-api/request-priority.js';
import type {
  CallEnvelope,
  CallGroup,
  CancelResponse,
  ProgressResponse,
} from '@switchyard/worker-protocol/call.codec.js';
import { channelSecurity, type RemoteSpec } from '@switchyard/worker-protocol/channel-security.js';
import { failureTrailers } from '@switchyard/worker-protocol/failure-trailers.js';
import type {
  HealthCheckResponse,
  HealthResponse,
} from '@switchyard/worker-protocol/health.codec.js';
import { LARGEST_MESSAGE_BYTES } from '@switchyard/worker-protocol/message-size.js';
import { WorkerChannel } from '@switchyard/worker-protocol/worker-channel.js';

/** The gateway's limit of one health probe. */
export const PROBE_LIMIT_MS = 2000;
/**
 * A worker that answers without end is broken off. The largest right answer has
 * some hundred messages.
 */
const MAX_MESSAGES = 20_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** Time limit of every request of a check: longer than any runs. */
export const CHECKED_LIMIT_MS = 600_000;

interface CallEnd<M> {
  readonly code: status;
  /** Message of the gRPC status. */
  readonly details: string;
  /** "INTERNAL, switchyard-code engine_failed: out of memory". */
  readonly text: string;
  /** False: the worker has no such method. */
  readonly isServed: boolean;
  /** Trailers, as sent. */
  readonly trailers: ReturnType<typeof failureTrailers>;
  readonly messages: readonly M[];
  /** Milliseconds from the start of the call. */
  readonly ms: number;
  readonly flooded: boolean;
}

/** Any grpc-js call; `end` half-closes a stream of messages to the worker. */
type RawCall = EventEmitter & { cancel(): void; end?(): void };
type Reply<M> = (error: Error | null, message?: M) => void;

/**
 * One RPC of whatever kind: its messages as they come, and how it ended.
 * Nothing here rejects.
 */
export class CheckedCall<M> {
  readonly ended: Promise<CallEnd<M>>;
  readonly messages: M[] = [];
  hasEnded = false;
  #bytes = 0;
  readonly #raw: RawCall;
  readonly #startedAtMs = performance.now();

  constructor(
    readonly id: string,
    start: (reply: Reply<M>) => RawCall,
  ) {
    this.#raw = start((_, message) => message !== undefined && this.#take(message));
    this.#raw.on('data', (message: M) => this.#take(message));
    this.#raw.on('error', () => undefined);
    this.ended = new Promise<StatusObject>(resolve => this.#raw.once('status', resolve)).then(
      ended => this.#end(ended),
    );
  }

  /** Half-closes a request that was held open. */
  complete(): void {
    if (!this.hasEnded) this.#raw.end?.();
  }

  /** Ends the call from this side, unless it has ended. */
  reset(): void {
    if (!this.hasEnded) this.#raw.cancel();
  }

  get #flooded() {
    return this.messages.length >= MAX_MESSAGES || this.#bytes >= MAX_BYTES;
  }

  async #end(ended: StatusObject): Promise<CallEnd<M>> {
    // The answer of a unary call and the last messages of a stream are delivered
    // beside the status.
    await new Promise(resolve => setImmediate(resolve));
    this.hasEnded = true;
    const { code, details } = ended;
    const trailers = failureTrailers(ended);
    const own = trailers.code === undefined ? '' : `, switchyard-code ${trailers.code}`;
    return {
      code,
      details,
      text: `${status[code]}${own}${details === '' ? '' : `: ${details.slice(0, 200)}`}`,
      isServed: code !== status.UNIMPLEMENTED && code !== status.NOT_FOUND,
      trailers,
      messages: this.messages,
      ms: performance.now() - this.#startedAtMs,
      flooded: this.#flooded,
    };
  }

  #take(message: M) {
    if (this.#flooded) return;
    this.messages.push(message);
    this.#bytes += bytesOf(message);
    if (this.#flooded) this.#raw.cancel();
  }
}

/** Length of all bytes and texts in a message, however deep. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce<number>((sum, part) => sum + bytesOf(part), 0);
}

/** One request, ready to be sent. */
export type Sample<M = unknown> = (
  channel: WorkerChannel,
  call: CallEnvelope,
  options: CallOptions,
  reply: Reply<M>,
) => RawCall;

/** Requests of one kind, and what a right answer to them is. */
export interface Samples<M = unknown> {
  /** A well-formed request, whose answer differs from that of `n - 1`; `n` counts from 0. */
  plain(n: number): Sample<M>;
  /**
   * @returns the engine call that computed the answer, where it is told. @throws Verdict
   *   when this is no answer to `plain(n)`
   */
  judge(
    messages: readonly M[],
    n: number,
  ): { readonly batchId: string; readonly batchSize: number } | undefined;
  /** A request that no worker can compute. */
  readonly broken: Sample;
  /** Occupies the worker until it is cancelled, as far as its kind permits. */
  readonly lasting: Sample;
  /** A request that takes some seconds of engine time, where the kind permits. */
  readonly heavy: Sample;
}

/** The worker as a gateway sees it: the same connection, the same messages. */
export class WorkerClient implements Disposable {
  readonly #channel: WorkerChannel;

  /** @throws Error when a file of `remote` cannot be read */
  constructor(address: string, remote: RemoteSpec) {
    // No pings here: a worker that punishes them is found by the check of that name, not
    // by calls that break.
    const limits = {
      maxMessageBytes: LARGEST_MESSAGE_BYTES,
      keepaliveTimeMs: 600_000,
      keepaliveTimeoutMs: 5000,
    };
    this.#channel = new WorkerChannel(
      { address, limits, security: channelSecurity(remote) },
      () => undefined,
    );
  }

  /** `grpc.health.v1.Health/Check` of service "". */
  check() {
    const request = { service: '' };
    return this.#send<HealthCheckResponse>((options, reply) =>
      this.#channel.health.check(request, new Metadata(), options, reply),
    );
  }

  health(kind: ModelKind) {
    return this.#send<HealthResponse>((options, reply) =>
      this.#channel.control(kind).health({}, new Metadata(), options, reply),
    );
  }

  progress(kind: ModelKind, requestId: string, attempt = '') {
    const request = { requestId, attempt };
    return this.#send<ProgressResponse>((options, reply) =>
      this.#channel.control(kind).progress(request, new Metadata(), options, reply),
    );
  }

  cancel(kind: ModelKind, requestId: string, attempt = '') {
    const request = { requestId, reason: 'client', attempt };
    return this.#send<CancelResponse>((options, reply) =>
      this.#channel.control(kind).cancel(request, new Metadata(), options, reply),
    );
  }

  /** Sends the samples together, as one group. */
  startGroup(samples: readonly Sample[]): readonly CheckedCall<unknown>[] {
    const group = { id: randomUUID(), size: samples.length };
    return samples.map(sample => this.start(sample, { group }));
  }

  start<M>(
    sample: Sample<M>,
    { group, deadlineMs }: { group?: CallGroup; deadlineMs?: number } = {},
  ): CheckedCall<M> {
    const requestId = `check-${randomUUID()}`;
    const envelope = {
      requestId,
      priority: RequestPriority.REALTIME,
      group: { timeLimitMs: CHECKED_LIMIT_MS, ...(group ?? { id: requestId, size: 1 }) },
    };
    const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
    return new CheckedCall<M>(requestId, reply =>
      this.#channel.track(() => sample(this.#channel, envelope, options, reply)),
    );
  }

  [Symbol.dispose](): void {
    this.#channel.abort();
  }

  /** Makes a short call with the time limit of a probe. */
  #send<M>(start: (options: CallOptions, reply: Reply<M>) => RawCall) {
    const options = { deadline: Date.now() + PROBE_LIMIT_MS };
    return new CheckedCall<M>('', reply => this.#channel.track(() => start(options, reply))).ended;
  }
}

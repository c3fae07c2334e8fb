import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { SlotMap } from '@switchyard/engine-api/slot-map.js';
import {
  type CancelRequest,
  corrected,
  type ProgressResponse,
  type StreamConfig,
} from '@switchyard/worker-protocol/call.codec.js';
import { type ChannelSecurity } from '@switchyard/worker-protocol/channel-security.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { WorkerChannel } from '@switchyard/worker-protocol/worker-channel.js';
import { slotsOf } from '@switchyard/worker-protocol/worker-slots.js';
import { decodeFailure, encodeFailure } from '../contracts/errors/status.codec.js';
import { SlotLedger } from '../core/dispatch/slot-ledger.js';
import { DomainError } from '../core/errors/domain-error.js';
import { type DeviceProgress } from '../core/request/device-progress.js';
import { type RequestKey } from '../core/request/request-key.js';
import { type CancelReason } from '../core/request/settlement.js';
import { WorkerLostError } from '../core/request/worker-lost.js';
import { type ModelKind, type ReplicaRole } from '../platform/config/model-spec.js';
import { type workerCare } from '../platform/config/worker-spec.js';
import { sendCancel, stopCall } from './call-stopper.js';
import { countsSince, type GenerationCounts } from './generation-counts.js';
import { type InProcessWorker } from './in-process-worker.js';
import { generateInside, performRemotely } from './perform-remotely.js';
import { type StreamHandle, WorkerStream } from './stream-handle.js';
import { CallProgress, type CallRequest, wentAway, type WorkerCall } from './worker-call.js';
import { probeWorker, WorkerHealth } from './worker-health.js';
import { type WorkerReply } from './worker-task.js';

interface ConnectionOptions {
  /** host:port, or in this process. */
  readonly at: string | InProcessWorker;
  readonly kind: ModelKind;
  /** How it is reached, probed and stopped. */
  readonly care: ReturnType<typeof workerCare>;
  /** Its end is noticed without a probe. */
  readonly isSupervised: boolean;
  readonly security: ChannelSecurity;
  readonly events: {
    onReport(report: WorkerHealthReport): void;
    /** A probe failed. */
    onProbeFailure(error: unknown): void;
    /** So many failed in a row that the worker counts as lost. */
    onUnhealthy(): void;
    /** A call or a probe found the connection broken; it has been replaced already. */
    onConnectionLost(): void;
    /**
     * A cancelled call was reset from this side, because the worker did not end it in time.
     */
    onUnended?(): void;
    /** The worker has more free slots, or more for REALTIME, than before. Synchronous. */
    readonly onCapacity?: () => void;
    /** A slot or a place for a live stream was released. Synchronous. */
    readonly onReturn?: () => void;
  };
}

/**
 * Longest keepalive interval towards a worker that is pinged too often: what gRPC's C
 * core allows by default, and as much again.
 */
const MAX_KEEPALIVE_MS = 600_000;

/**
 * One process of a worker: its calls, its slots, its probes. A user's cancel does not
 * cancel the call from this side at once: the Cancel RPC asks, and the call ends when the
 * worker ends it, so that a slot is not leased again while the device still works.
 */
export class WorkerConnection {
  readonly slots: SlotLedger;
  /** Places for live streams, apart from file slots (D-20). */
  readonly streams: SlotLedger;
  readonly health: WorkerHealth;
  /** host:port; undefined: in this process. */
  readonly address: string | undefined;
  readonly #inner: InProcessWorker | undefined;
  /** Undefined: the worker is in this process. */
  #channel: WorkerChannel | undefined;
  #keepaliveTimeMs: number;
  #retired = false;
  /** By key, which is the `request_id` that the worker knows. */
  readonly #calls = new SlotMap<string, CallProgress>();
  readonly #live = new Set<WorkerStream>();
  /** The connection that broke last, and how many calls ended with it. */
  #lost: { readonly channel: WorkerChannel; readonly together: number } | undefined;
  #fate = Promise.withResolvers<'disconnected' | 'died'>();
  #counts: GenerationCounts | undefined;
  /** Monotonic milliseconds at which a call ended last. */
  #lastEndMs = -Infinity;

  constructor(private readonly options: ConnectionOptions) {
    const { at, care, events, isSupervised } = options;
    this.#keepaliveTimeMs = care.limits.keepaliveTimeMs;
    if (typeof at === 'string') this.#channel = this.#connect((this.address = at));
    else this.#inner = at;
    this.health = new WorkerHealth({
      ...care.health,
      rests: isSupervised,
      probe: () => this.#probe(),
      onReport: report => {
        this.#survived();
        events.onReport(report);
      },
      onFailure: error => events.onProbeFailure(error),
      onUnhealthy: () => {
        this.#survived();
        events.onUnhealthy();
      },
      // gRPC waits without end for a server that took the connection and says nothing.
      onStillAway: () => this.#replaceChannel(),
    });
    this.slots = new SlotLedger(events.onCapacity, events.onReturn);
    this.streams = new SlotLedger(undefined, events.onReturn);
  }

  /** Leases out and live streams. */
  get running(): number {
    return this.slots.inUse + this.streams.inUse;
  }

  /**
   * Starts the RPC now. Never throws: on a retired connection the reply
   * rejects with `worker_lost`.
   */
  execute(request: CallRequest): WorkerCall {
    const call = new CallProgress(request.group.id);
    const { key } = request.request;
    this.#calls.set(key, call);
    const reply = this.#perform(call, request);
    // A caller that a deadline has settled no longer listens.
    reply.catch(() => undefined);
    void call.finished.then(() => {
      if (this.#calls.get(key) === call) this.#calls.delete(key);
      this.#lastEndMs = performance.now();
    });
    const progress = () => this.#progress(call, request);
    return { reply, finished: call.finished, progress };
  }

  /** @throws DomainError `worker_lost` on a retired connection */
  openStream(config: StreamConfig): StreamHandle {
    const channel = this.#channel;
    if (!channel)
      throw new DomainError('worker_lost', 'A worker in this process has no live streams.');
    const { resetAfterMs } = this.options.care.stop;
    const stop = (stream: WorkerStream) =>
      void this.#stop(stream, { requestId: config.sessionId, reason: 'client', attempt: '' });
    const stream = new WorkerStream({ config, channel, resetAfterMs, stop });
    this.#live.add(stream);
    void stream.finished.then(() => this.#live.delete(stream));
    return stream;
  }

  /**
   * True when the worker acknowledged at once, or never got the call. Never rejects; asks
   * on until the call has ended.
   */
  async cancel(key: RequestKey, reason: CancelReason): Promise<boolean> {
    const call = this.#calls.get(key);
    call?.abandon();
    if (!call?.sent) return call !== undefined;
    return this.#stop(call, { requestId: key, reason, attempt: call.attempt });
  }

  /** What continuous batching did since the last report of this process. */
  generated(now: GenerationCounts): GenerationCounts {
    const counts = countsSince(this.#counts, now);
    this.#counts = now;
    return counts;
  }

  /** To what its role leaves of the size that the worker reports. */
  resize(report: WorkerHealthReport, role?: ReplicaRole): void {
    this.streams.resize(role === 'file' ? 0 : report.streams);
    if (role === 'stream') return;
    const { credits, overdraft, group } = slotsOf(report);
    this.slots.resize(credits, overdraft, group);
  }

  /**
   * The worker is lost although its connection may be open: calls in flight end now.
   * Probes continue over a new connection.
   */
  resetAll(reason: string): void {
    const lost = new WorkerLostError('abandoned', reason, undefined, this.#calls.size);
    for (const call of [...this.#calls.values(), ...this.#live]) call.lose(lost);
    this.#replaceChannel();
  }

  /**
   * The process is gone, or will be: no new calls; calls in flight end by
   * themselves. Idempotent.
   */
  retire(): void {
    this.#retired = true;
    this.health.stop();
    this.slots.resize(0);
    this.#channel?.retire();
    this.#fate.resolve('died');
  }

  /** The pool closes for good: remaining calls are cancelled from here. */
  abort(): void {
    this.#retired = true;
    this.health.stop();
    this.#channel?.abort();
    this.#inner?.abortAll(new DomainError('shutting_down', 'The worker is shutting down.'));
  }

  async #perform(call: CallProgress, request: CallRequest): Promise<WorkerReply> {
    try {
      if (this.#retired) throw wentAway(this.address ?? 'in this process');
      if (this.#inner) return await generateInside(call, this.#inner, request);
      return await performRemotely(call, request, () => this.#channel!);
    } catch (error) {
      throw await this.#failure(call, error);
    } finally {
      // Otherwise its end is that of the RPC.
      if (!call.sent || this.#inner) call.ended();
    }
  }

  /**
   * When the connection to a process of this machine breaks, its end follows, or it
   * answers a probe.
   */
  async #failure(call: CallProgress, error: unknown): Promise<unknown> {
    if (call.lostBy) return call.lostBy;
    const failure = this.#inner ? failureAcross(error) : decodeFailure(error, this.#lost?.together);
    const isOpen =
      this.options.isSupervised &&
      failure instanceof WorkerLostError &&
      failure.kind === 'disconnected';
    if (!isOpen) return failure;
    return new WorkerLostError(
      await this.#fate.promise,
      failure.message,
      failure,
      failure.together,
    );
  }

  /** The process did not end: it answers, or hangs. */
  #survived(): void {
    this.#fate.resolve('disconnected');
    this.#fate = Promise.withResolvers();
  }

  /** Rejects with an error that names the method at fault. */
  #probe(): Promise<WorkerHealthReport> {
    const { kind, care } = this.options;
    if (this.#channel) return probeWorker(this.#channel, kind, care.health.timeoutMs);
    return Promise.resolve(this.#inner!.report());
  }

  #stop(call: CallProgress, request: CancelRequest): Promise<boolean> {
    const { care, kind, events } = this.options;
    // The channel may be replaced meanwhile.
    const ask = async (deadline: number) =>
      this.#channel
        ? sendCancel(this.#channel, kind, request, deadline)
        : this.#inner?.cancel(request.requestId, request.reason, request.attempt);
    return stopCall({ ...care.stop, call, ask, onReset: () => events.onUnended?.() });
  }

  /** An upload that is still being read counts as waiting. */
  async #progress(call: CallProgress, { request, group }: CallRequest) {
    const { attempt } = call;
    if (this.#inner) return this.#inner.progress(request.key, attempt);
    const channel = this.#channel!;
    const asked = { requestId: request.key, attempt };
    const deadline = Date.now() + this.options.care.health.timeoutMs;
    const control = channel.control(this.options.kind);
    try {
      const { known, ...progress } = corrected(
        await channel.unary<ProgressResponse>(done =>
          control.progress(asked, new Metadata(), { deadline }, done),
        ),
      );
      return known ? progress : undefined;
    } catch (error) {
      if ((error as Partial<ServiceError>).code !== status.UNIMPLEMENTED) throw error;
      return this.#guessed(call, group.timeLimitMs ?? 0);
    }
  }

  /**
   * The progress that is assumed of a worker without `Progress`: it computes all its calls,
   * since it ended one or was sent this one.
   */
  #guessed({ sinceMs }: CallProgress, timeLimitMs: number): DeviceProgress {
    const deviceMs = performance.now() - Math.max(sinceMs, this.#lastEndMs);
    return { onDevice: true, deviceMs, limitMs: this.#calls.size * timeLimitMs };
  }

  #connect(address: string): WorkerChannel {
    const { care, security } = this.options;
    const limits = { ...care.limits, keepaliveTimeMs: this.#keepaliveTimeMs };
    const refusal = () =>
      new WorkerLostError('unsent', 'The worker went away before the request was sent.');
    const channel = new WorkerChannel({ address, limits, security, refusal }, pinged =>
      this.#onLost(channel, pinged),
    );
    return channel;
  }

  /** Several calls that fail together replace the channel once. */
  #onLost(channel: WorkerChannel, pingedTooOften: boolean): void {
    if (channel !== this.#lost?.channel) this.#lost = { channel, together: this.#calls.size };
    if (this.#retired || channel !== this.#channel) return;
    if (pingedTooOften)
      this.#keepaliveTimeMs = Math.min(2 * this.#keepaliveTimeMs, MAX_KEEPALIVE_MS);
    this.#replaceChannel();
    this.options.events.onConnectionLost();
  }

  #replaceChannel(): void {
    if (this.address === undefined) return;
    const old = this.#channel;
    this.#channel = this.#connect(this.address);
    old?.retire();
  }
}

/** A failure of a worker in this process, as it would arrive from another one. */
const failureAcross = (error: unknown) =>
  decodeFailure(Object.assign(new Error(), encodeFailure(error)));

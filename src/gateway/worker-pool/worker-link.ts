import { Metadata } from '@grpc/grpc-js';
import { type CancelRequest, type CancelResponse } from '../../contracts/grpc/call.codec.js';
import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { decodeFailure } from '../../contracts/grpc/status.codec.js';
import { type StreamConfig } from '../../contracts/grpc/stream.codec.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { SlotMap } from '../../core/shared/slot-map.js';
import { type ModelKind } from '../../platform/config/model-spec.js';
import { stopCall, type Stoppable } from './call-stopper.js';
import { type ChannelSecurity } from './channel-security.js';
import { type StreamHandle, WorkerStream } from './stream-handle.js';
import { SynthesizeCall } from './synthesize-call.js';
import { EmbedCall, GenerateCall } from './text-calls.js';
import { goesInPieces, TranscribeCall, UploadCall } from './transcribe-calls.js';
import { type CallRequest, lostCall, type StartedCall, type WorkerCall } from './worker-call.js';
import { type ChannelLimits, WorkerChannel } from './worker-channel.js';
import { probeWorker } from './worker-health.js';
import { type TranscribeTask } from './worker-task.js';

export interface LinkOptions {
  /** host:port */
  readonly address: string;
  readonly kind: ModelKind;
  readonly limits: ChannelLimits;
  readonly security: ChannelSecurity;
  readonly stop: StopLimits;
  /** A call or a probe found the connection broken; it has been replaced already. */
  onConnectionLost(): void;
  /** A cancelled call was reset from this side, because the worker did not end it in time. */
  onUnended(): void;
}

export interface StopLimits {
  /** Limit of the first Cancel RPC. */
  readonly timeoutMs: number;
  /** How long the worker may take to end a call that was cancelled. */
  readonly resetAfterMs: number;
}

/**
 * Longest keepalive interval towards a worker that is pinged too often: what gRPC's C core allows by default, and as
 * much again.
 */
const MAX_KEEPALIVE_MS = 600_000;

/**
 * All traffic with one worker process. A user's cancel does not cancel the call from this side at once: the Cancel RPC
 * asks, and the call ends when the worker ends it, so that a slot is not leased again while the device still works.
 */
export class WorkerLink {
  #channel: WorkerChannel;
  #retired = false;
  #keepaliveTimeMs: number;
  /** By key, which is the `request_id` that the worker knows. */
  readonly #calls = new SlotMap<string, StartedCall>();
  readonly #streams = new Set<WorkerStream>();
  /** Why calls were reset from this side. */
  readonly #resets = new WeakMap<StartedCall, WorkerLostError>();
  /** The connection that broke last, and how many calls ended with it. */
  #lost: { readonly channel: WorkerChannel; readonly together: number } | undefined;

  constructor(private readonly options: LinkOptions) {
    this.#keepaliveTimeMs = options.limits.keepaliveTimeMs;
    this.#channel = this.#connect();
  }

  get address(): string {
    return this.options.address;
  }

  /** Starts the RPC now. Never throws: on a retired link the reply rejects with worker_lost. */
  execute(call: CallRequest): WorkerCall {
    if (this.#retired) return lostCall(this.address);
    const { key } = call.request;
    const started = this.#start(call);
    this.#calls.set(key, started);
    void started.finished.then(() => {
      if (this.#calls.get(key) === started) this.#calls.delete(key);
    });
    const reply = started.reply.catch((error: unknown) => {
      throw this.#resets.get(started) ?? decodeFailure(error, this.#lost?.together);
    });
    // A caller that a deadline has settled no longer listens.
    reply.catch(() => undefined);
    return { reply, finished: started.finished };
  }

  /** @throws DomainError `worker_lost` on a retired link. */
  openStream(workerId: string, config: StreamConfig): StreamHandle {
    const channel = this.#channel;
    const closing = { requestId: config.sessionId, reason: 'client' } as const;
    const stream = new WorkerStream({
      workerId,
      config,
      resetAfterMs: this.options.stop.resetAfterMs,
      start: () => channel.track(() => channel.stt.transcribeStream()),
      stop: stopping => void this.#stop(stopping, closing, error => stopping.lose(error)),
    });
    this.#streams.add(stream);
    void stream.finished.then(() => this.#streams.delete(stream));
    return stream;
  }

  /**
   * True when the worker acknowledged at once, or never got the call. Never rejects; asks on until the call has ended.
   */
  async cancel(key: RequestKey, reason: CancelReason): Promise<boolean> {
    const call = this.#calls.get(key);
    call?.abandon();
    if (!call?.sent) return call !== undefined;
    return this.#stop(call, { requestId: key, reason }, error => this.#reset(call, error));
  }

  /** Rejects with an error that names the method at fault. */
  probe(timeoutMs: number): Promise<WorkerHealthReport> {
    return probeWorker(this.#channel, this.options.kind, timeoutMs);
  }

  /**
   * The worker is lost although its connection may be open: calls in flight end now. Probes continue over a new
   * connection.
   */
  resetAll(reason: string): void {
    const lost = new WorkerLostError('abandoned', reason, undefined, this.#calls.size);
    for (const call of [...this.#calls.values()]) this.#reset(call, lost);
    for (const stream of [...this.#streams]) stream.lose(lost);
    this.#replaceChannel();
  }

  /** The worker is gone: no new calls; calls in flight end by themselves. Idempotent. */
  retire(): void {
    this.#retired = true;
    this.#channel.retire();
  }

  /** The pool closes for good: remaining calls are cancelled from here. */
  abort(): void {
    this.#retired = true;
    this.#channel.abort();
  }

  #start(call: CallRequest): StartedCall {
    const { payload } = call.request;
    switch (payload.kind) {
      case 'synthesize':
        return new SynthesizeCall(this.#channel, call, payload);
      case 'generate':
        return new GenerateCall(this.#channel, call, payload);
      case 'embed':
        return new EmbedCall(this.#channel, call, payload);
      case 'transcribe':
        return this.#transcribe(call, payload);
    }
  }

  #transcribe(call: CallRequest, task: TranscribeTask): StartedCall {
    if (goesInPieces(task, this.options.limits.maxMessageBytes)) return new UploadCall(this.#channel, call, task);
    return new TranscribeCall(() => this.#channel, call, task);
  }

  #connect(): WorkerChannel {
    const limits = { ...this.options.limits, keepaliveTimeMs: this.#keepaliveTimeMs };
    const channel = new WorkerChannel({ ...this.options, limits }, pinged => this.#onLost(channel, pinged));
    return channel;
  }

  /** @param reset breaks it off from here: the worker did not end it in time */
  #stop(what: Stoppable, request: CancelRequest, reset: (error: WorkerLostError) => void): Promise<boolean> {
    const { resetAfterMs } = this.options.stop;
    const unended = `A cancelled call was not ended within ${resetAfterMs} ms.`;
    const onUnended = (): void => {
      reset(new WorkerLostError('abandoned', unended));
      this.options.onUnended();
    };
    const ask = (asked: CancelRequest, deadline: number) => this.#cancelOnce(asked, deadline);
    return stopCall(what, request, { ...this.options.stop, ask, onUnended });
  }

  #reset(call: StartedCall, error: WorkerLostError): void {
    this.#resets.set(call, error);
    call.reset();
  }

  /** Undefined: no answer. */
  async #cancelOnce(request: CancelRequest, deadline: number): Promise<boolean | undefined> {
    const channel = this.#channel;
    try {
      const reply = await channel.unary<CancelResponse>(done =>
        channel.control(this.options.kind).cancel(request, new Metadata(), { deadline }, done),
      );
      return reply.acknowledged;
    } catch {
      return undefined;
    }
  }

  /** Several calls that fail together replace the channel once. */
  #onLost(channel: WorkerChannel, pingedTooOften: boolean): void {
    if (channel !== this.#lost?.channel) this.#lost = { channel, together: this.#calls.size };
    if (this.#retired || channel !== this.#channel) return;
    if (pingedTooOften) this.#keepaliveTimeMs = Math.min(2 * this.#keepaliveTimeMs, MAX_KEEPALIVE_MS);
    this.#replaceChannel();
    this.options.onConnectionLost();
  }

  #replaceChannel(): void {
    const old = this.#channel;
    this.#channel = this.#connect();
    old.retire();
  }
}

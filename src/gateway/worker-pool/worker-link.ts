import { setTimeout as pause } from 'node:timers/promises';
import { Metadata } from '@grpc/grpc-js';
import { type CancelRequest, type CancelResponse } from '../../contracts/grpc/call.codec.js';
import {
  decodeHealth,
  type HealthCheckResponse,
  type HealthResponse,
  SERVING,
  type WorkerHealthReport,
} from '../../contracts/grpc/health.codec.js';
import { type StreamConfig } from '../../contracts/grpc/stream.codec.js';
import { decodeFailure } from '../../contracts/grpc/status.codec.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { ChurnMap } from '../../core/shared/churn-map.js';
import { type ModelKind } from '../../platform/config/model-spec.js';
import { type ChannelSecurity } from './channel-security.js';
import { EmbedCall } from './embed-call.js';
import { GenerateCall } from './generate-call.js';
import { StreamHandle } from './stream-handle.js';
import { SynthesizeCall } from './synthesize-call.js';
import { TranscribeCall } from './transcribe-call.js';
import { goesInPieces, UploadCall } from './upload-call.js';
import { type TranscribeTask } from './worker-task.js';
import { type CallRequest, lostCall, type StartedCall, type WorkerCall } from './worker-call.js';
import { type ChannelLimits, WorkerChannel } from './worker-channel.js';

export interface LinkOptions {
  /** host:port */
  readonly address: string;
  readonly kind: ModelKind;
  readonly limits: ChannelLimits;
  readonly security: ChannelSecurity;
  /** A call or a probe found the connection broken; it has been replaced already. */
  onConnectionLost(): void;
}

/** Between two Cancels of a call that the worker has not received yet. */
const OVERTAKEN_PAUSE_MS = 5;

/**
 * All traffic with one worker process. A user's cancel never cancels a call from this side: the Cancel RPC asks, and
 * the call ends when the worker lets go, so that a slot is never given out while the device still works.
 */
export class WorkerLink {
  #channel: WorkerChannel;
  #retired = false;
  /** By key, which is the `request_id` that the worker knows. */
  readonly #calls = new ChurnMap<string, StartedCall>();

  constructor(private readonly options: LinkOptions) {
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
      throw decodeFailure(error);
    });
    // A caller that a deadline has settled no longer listens.
    reply.catch(() => undefined);
    return { reply, finished: started.finished };
  }

  /** @throws DomainError `worker_lost` on a retired link. */
  openStream(workerId: string, config: StreamConfig): StreamHandle {
    const channel = this.#channel;
    return new StreamHandle({
      workerId,
      config,
      start: () => channel.track(() => channel.stt.transcribeStream()),
      askToCancel: (requestId, timeoutMs) => this.#cancelOnce({ requestId, reason: 'client' }, Date.now() + timeoutMs),
    });
  }

  /** True when the worker acknowledged within `timeoutMs`, or never got the call. Never rejects. */
  async cancel(key: RequestKey, reason: CancelReason, timeoutMs: number): Promise<boolean> {
    const call = this.#calls.get(key);
    call?.abandon();
    if (!call?.sent) return call !== undefined;
    return this.#cancelSent({ requestId: key, reason }, Date.now() + timeoutMs);
  }

  /** The standard check and the worker's own report. Rejects with the gRPC error of the first that fails. */
  async probe(timeoutMs: number): Promise<WorkerHealthReport> {
    const channel = this.#channel;
    const limit = { deadline: Date.now() + timeoutMs };
    const metadata = new Metadata();
    const check = channel.unary<HealthCheckResponse>(done =>
      channel.health.check({ service: '' }, metadata, limit, done),
    );
    const report = channel.unary<HealthResponse>(done => this.#control(channel).health({}, metadata, limit, done));
    const [{ status }, health] = await Promise.all([check, report]);
    const { state, ...rest } = decodeHealth(health);
    return { ...rest, state: status !== SERVING && state === 'ready' ? 'draining' : state };
  }

  /** The worker is gone: no new calls; what is in flight ends by itself. Idempotent. */
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
    const channel = new WorkerChannel(this.options, () => this.#onLost(channel));
    return channel;
  }

  #control(channel: WorkerChannel) {
    switch (this.options.kind) {
      case 'stt':
        return channel.stt;
      case 'tts':
        return channel.tts;
      case 'llm':
      case 'embedding':
        return channel.text;
    }
  }

  /** A Cancel can overtake its own call while the upload is on its way, so an unknown request is asked for again. */
  async #cancelSent(request: CancelRequest, deadline: number): Promise<boolean> {
    while (this.#calls.has(request.requestId) && Date.now() < deadline) {
      const acknowledged = await this.#cancelOnce(request, deadline);
      if (acknowledged !== false) return acknowledged === true;
      await pause(OVERTAKEN_PAUSE_MS);
    }
    return false;
  }

  /** Undefined: no answer. */
  async #cancelOnce(request: CancelRequest, deadline: number): Promise<boolean | undefined> {
    const channel = this.#channel;
    try {
      const reply = await channel.unary<CancelResponse>(done =>
        this.#control(channel).cancel(request, new Metadata(), { deadline }, done),
      );
      return reply.acknowledged;
    } catch {
      return undefined;
    }
  }

  /** Eight calls that die together make one replacement. */
  #onLost(channel: WorkerChannel): void {
    if (this.#retired || channel !== this.#channel) return;
    this.#channel = this.#connect();
    channel.retire();
    this.options.onConnectionLost();
  }
}

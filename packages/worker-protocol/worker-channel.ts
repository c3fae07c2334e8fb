import {
  Channel,
  type ChannelOptions,
  connectivityState,
  InterceptingCall,
  type Interceptor,
  type ServiceError,
  status,
  type StatusObject,
} from '@grpc/grpc-js';
import { type ModelKind } from '@switchyard/engine-api/engine.js';
import { SlotMap } from '@switchyard/engine-api/slot-map.js';
import { type ChannelSecurity } from './channel-security.js';
import { isConnectionLost, isExplained } from './failure-trailers.js';
import { type TextGenerationClient, TextGenerationStub } from './generation.codec.js';
import { type HealthClient, HealthStub } from './health.codec.js';
import { type SpeechToTextClient, SpeechToTextStub } from './stt.codec.js';
import { type TextToSpeechClient, TextToSpeechStub } from './tts.codec.js';

interface ChannelLimits {
  /** Largest message, both ways: the upload limit plus room for the other fields. */
  readonly maxMessageBytes: number;
  readonly keepaliveTimeMs: number;
  readonly keepaliveTimeoutMs: number;
}

/** Any grpc-js call: emits `status` exactly once, when it has truly ended. */
export interface TrackedCall {
  once(event: 'status', listener: (ended: StatusObject) => void): unknown;
  cancel(): void;
}

/** Is notified when an RPC begins and ends. */
interface CallObserver {
  began?(rpc: TrackedCall): void;
  /** The RPC has ended, for whatever reason. */
  ended(): void;
}

/**
 * One HTTP/2 connection to a worker, shared by all its calls. It is never closed under a
 * call (D-05): `retire()` lets the last one end first.
 */
export class WorkerChannel {
  readonly stt: SpeechToTextClient;
  readonly tts: TextToSpeechClient;
  readonly text: TextGenerationClient;
  readonly health: HealthClient;
  readonly #channel: Channel;
  /** How often the connection broke. */
  #drops = 0;
  /**
   * The server ended the connection with ENHANCE_YOUR_CALM: its calls end as
   * RESOURCE_EXHAUSTED then. gRPC servers do so when they are pinged more often
   * than they allow.
   */
  #pingedTooOften = false;
  readonly #calls = new SlotMap<number, TrackedCall>();
  #started = 0;
  readonly #refusal: () => Error;
  #retired = false;

  /** Largest message, both ways. */
  readonly maxMessageBytes: number;

  /**
   * @param onLost the connection broke under a call, because of our pings or not; called
   *   before that call's answer is
   *   delivered
   */
  constructor(
    {
      address,
      limits,
      security,
      refusal = () => new Error('The channel is retired.'),
    }: {
      /** host:port */
      readonly address: string;
      readonly limits: ChannelLimits;
      readonly security: ChannelSecurity;
      /** What a call on a retired channel throws. */
      readonly refusal?: () => Error;
    },
    private readonly onLost: (pingedTooOften: boolean) => void,
  ) {
    this.#refusal = refusal;
    this.maxMessageBytes = limits.maxMessageBytes;
    const secrets = security.credentials;
    this.#channel = new Channel(address, secrets, {
      ...channelOptions(limits),
      ...nameOptions(security),
    });
    this.#watch(this.#channel.getConnectivityState(false));
    const interceptors = [...security.interceptors, this.#noticeDrops];
    const shared = { channelOverride: this.#channel, interceptors };
    this.stt = new SpeechToTextStub(address, secrets, shared);
    this.tts = new TextToSpeechStub(address, secrets, shared);
    this.text = new TextGenerationStub(address, secrets, shared);
    this.health = new HealthStub(address, secrets, shared);
  }

  /** Cancel and Health, of the service that workers of that kind have. */
  control(kind: ModelKind): SpeechToTextClient | TextToSpeechClient | TextGenerationClient {
    return kind === 'stt' || kind === 'tts' ? this[kind] : this.text;
  }

  /**
   * Runs one unary RPC. Rejects with grpc-js's `ServiceError`, or the refusal
   * of a retired channel.
   */
  unary<T>(
    start: (callback: (error: ServiceError | null, reply: T) => void) => TrackedCall,
    observer?: CallObserver,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      this.track(() => start((error, reply) => (error ? reject(error) : resolve(reply))), observer);
    });
  }

  /**
   * Starts a call and holds the channel open until it ends. @throws the refusal
   * of a retired channel.
   */
  track<C extends TrackedCall>(start: () => C, observer?: CallObserver): C {
    if (this.#retired) throw this.#refusal();
    const call = withoutStack(start);
    const number = this.#started++;
    this.#calls.set(number, call);
    observer?.began?.(call);
    call.once('status', ended => {
      this.#calls.delete(number);
      if (isConnectionLost(ended)) this.onLost(this.#pingedTooOften);
      observer?.ended();
      this.#closeWhenDrained();
    });
    return call;
  }

  /** No further calls; closes after the last one. Idempotent. */
  retire(): void {
    this.#retired = true;
    this.#closeWhenDrained();
  }

  /**
   * The pool closes for good: the only case in which calls are cancelled from this side.
   */
  abort(): void {
    for (const call of this.#calls.values()) call.cancel();
    this.retire();
  }

  /**
   * Knows calls that failed because their connection broke. A server that tears its
   * connections down resets the streams on them, and grpc-js reports that as CANCELLED,
   * RESOURCE_EXHAUSTED or INTERNAL, as a worker might; what is different is that the
   * connection is gone. Such a call ends as UNAVAILABLE.
   */
  readonly #noticeDrops: Interceptor = (options, nextCall) => {
    let before = 0;
    return new InterceptingCall(nextCall(options), {
      start: (metadata, _, next) => {
        before = this.#drops;
        next(metadata, {
          onReceiveStatus: (ended, deliver) => {
            const isLost = ended.code !== status.OK && this.#drops > before && !isExplained(ended);
            if (isLost && ended.code === status.RESOURCE_EXHAUSTED) this.#pingedTooOften = true;
            deliver(isLost ? { ...ended, code: status.UNAVAILABLE } : ended);
          },
        });
      },
    });
  };

  #watch(state: connectivityState) {
    if (state === connectivityState.SHUTDOWN) return;
    this.#channel.watchConnectivityState(state, Infinity, () => {
      if (state === connectivityState.READY) this.#drops += 1;
      this.#watch(this.#channel.getConnectivityState(false));
    });
  }

  #closeWhenDrained() {
    if (this.#retired && this.#calls.size === 0) this.#channel.close();
  }
}

/**
 * What the certificate is checked against: an address that came from DNS stands for the
 * name that was asked for.
 */
const nameOptions = ({ usesTls, serverName }: ChannelSecurity): ChannelOptions =>
  usesTls && serverName !== undefined
    ? {
        'grpc.ssl_target_name_override': serverName,
        'grpc.default_authority': serverName,
      }
    : {};

const channelOptions = (limits: ChannelLimits): ChannelOptions => ({
  'grpc.keepalive_time_ms': limits.keepaliveTimeMs,
  'grpc.keepalive_timeout_ms': limits.keepaliveTimeoutMs,
  'grpc.keepalive_permit_without_calls': 1,
  'grpc.max_send_message_length': limits.maxMessageBytes,
  'grpc.max_receive_message_length': limits.maxMessageBytes,
  // A replacement must be a new connection, not the broken one out of
  // a process-wide pool.
  'grpc.use_local_subchannel_pool': 1,
  // The scheduler retries (D-06); a second retry below it would compute twice.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  // Else http_proxy in the environment would carry loopback traffic away.
  'grpc.enable_http_proxy': 0,
});

/**
 * grpc-js notes the stack of every caller, for the error of a call that may fail.
 * Ours are identified by their status, and walking the stack is 2 % of a busy
 * gateway's CPU time.
 */
function withoutStack<T>(start: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return start();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

import { type Channel, connectivityState, InterceptingCall, type Interceptor, status } from '@grpc/grpc-js';
import { isExplained } from '../../contracts/grpc/status.codec.js';

/**
 * Knows calls that failed because their connection broke. A server that tears its connections down resets the streams on them, and
 * grpc-js reports that as CANCELLED, RESOURCE_EXHAUSTED or INTERNAL, as a worker might; what is different is that the connection is
 * gone. Such a call ends as UNAVAILABLE.
 */
export class ConnectionDrops {
  #drops = 0;
  #pinged = false;

  constructor(private readonly channel: Channel) {
    this.#watch(channel.getConnectivityState(false));
  }

  /**
   * The server ended the connection with ENHANCE_YOUR_CALM: its calls end as RESOURCE_EXHAUSTED then. gRPC servers do so when they are
   * pinged more often than they allow.
   */
  get pingedTooOften(): boolean {
    return this.#pinged;
  }

  readonly interceptor: Interceptor = (options, nextCall) => {
    let before = 0;
    return new InterceptingCall(nextCall(options), {
      start: (metadata, _, next) => {
        before = this.#drops;
        next(metadata, {
          onReceiveStatus: (ended, deliver) => {
            const isLost = ended.code !== status.OK && this.#drops > before && !isExplained(ended);
            if (isLost && ended.code === status.RESOURCE_EXHAUSTED) this.#pinged = true;
            deliver(isLost ? { ...ended, code: status.UNAVAILABLE } : ended);
          },
        });
      },
    });
  };

  #watch(state: connectivityState): void {
    if (state === connectivityState.SHUTDOWN) return;
    this.channel.watchConnectivityState(state, Infinity, () => {
      if (state === connectivityState.READY) this.#drops += 1;
      this.#watch(this.channel.getConnectivityState(false));
    });
  }
}

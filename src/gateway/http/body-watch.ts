import { type IncomingMessage } from 'node:http';

export interface BodyRate {
  /** Milliseconds over which the rate is measured. */
  readonly windowMs: number;
  /** Bytes per second; 0 = only complete silence counts. */
  readonly minRate: number;
}

interface Progress {
  readonly onSlow: () => void;
  sinceMs: number;
  bytes: number;
}

const MOST_TICK_MS = 1000;

/**
 * Ends request bodies that stall. A time limit for the whole request would end large
 * uploads at a normal speed and still let a slow one hold its connection; so each window
 * is measured separately. A body that the gateway does not read is not slow.
 */
export class BodyWatch {
  readonly #bodies = new Map<IncomingMessage, Progress>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly rate: BodyRate,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** @param onSlow called once, when a window brought too little */
  watch(message: IncomingMessage, onSlow: () => void): void {
    const done = () => void this.#bodies.delete(message);
    message.once('end', done).once('close', done);
    this.#bodies.set(message, {
      onSlow,
      sinceMs: this.nowMs(),
      bytes: message.socket.bytesRead,
    });
    this.#timer ??= setInterval(
      () => this.sweep(),
      Math.min(MOST_TICK_MS, this.rate.windowMs / 4),
    ).unref();
  }

  /**
   * Measures every body whose window is over. Without any left, the timer ends here:
   * bodies come and go faster.
   */
  sweep(): void {
    if (this.#bodies.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    const nowMs = this.nowMs();
    for (const [message, progress] of this.#bodies) {
      if (nowMs - progress.sinceMs < this.rate.windowMs) continue;
      const { bytesRead } = message.socket;
      const slow = bytesRead - progress.bytes < this.#leastBytes && !isHeldHere(message);
      progress.sinceMs = nowMs;
      progress.bytes = bytesRead;
      if (!slow) continue;
      this.#bodies.delete(message);
      progress.onSlow();
    }
  }

  get #leastBytes(): number {
    return Math.max(1, (this.rate.minRate * this.rate.windowMs) / 1000);
  }
}

/** All of it is here, or the buffer is full and waits for us. */
const isHeldHere = (message: IncomingMessage): boolean =>
  message.complete || message.readableLength >= message.readableHighWaterMark;

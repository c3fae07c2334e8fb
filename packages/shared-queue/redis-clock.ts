import { type Redis } from 'ioredis';

/** A reply that took longer says too little about when it was made. */
const PROMPT_MS = 100;

/**
 * The time of Redis, which all gateways and workers of a shared queue have, by the monotonic
 * clock of this process: what their own clocks say changes nothing. Times in Redis are of it.
 */
export class RedisClock {
  /** Epoch milliseconds of Redis when the monotonic clock was 0. */
  #originMs: number | undefined;

  /** Reads it: at the beginning of each connection, and with every heartbeat. Never rejects. */
  async read(redis: Pick<Redis, 'time'>): Promise<void> {
    const askedMs = performance.now();
    const [seconds, micros] = await redis.time().catch(() => []);
    const tripMs = performance.now() - askedMs;
    if (seconds === undefined || (this.#originMs !== undefined && tripMs > PROMPT_MS)) return;
    this.#originMs = Number(seconds) * 1000 + Number(micros) / 1000 - askedMs - tripMs / 2;
  }

  /** Epoch milliseconds, whole. Before Redis was read they are those of this process. */
  nowMs(): number {
    return Math.round((this.#originMs ?? performance.timeOrigin) + performance.now());
  }
}

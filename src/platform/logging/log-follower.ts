import { Readable } from 'node:stream';
import { type Subscription } from 'rxjs';
import { type LogLevel, type LogLine, isAtLeast, LogRing } from './log-ring.js';

/** Lines that wait for a reader; further ones are dropped and counted. */
const MAX_WAITING = 1000;

/** Keeps proxies from closing a quiet stream. */
const KEEP_ALIVE_MS = 15_000;

/**
 * A log as server-sent events: lines that are kept, then new ones. A slow reader loses
 * lines and is told how many.
 */
export class LogFollower extends Readable {
  readonly #waiting: string[] = [];
  readonly #lines: Subscription;
  readonly #keepAlive: NodeJS.Timeout;
  #dropped = 0;
  #isAsked = false;

  constructor(ring: LogRing, options: { readonly lines: number; readonly level: LogLevel }) {
    super({ highWaterMark: 64 * 1024 });
    for (const line of ring.last(options.lines, options.level)) this.#waiting.push(eventOf(line));
    this.#lines = ring.added$.subscribe(line => {
      if (isAtLeast(line, options.level)) this.#add(line);
    });
    this.#keepAlive = setInterval(
      () => this.#isAsked && this.push(': keep-alive\n\n'),
      KEEP_ALIVE_MS,
    ).unref();
  }

  override _read(): void {
    this.#isAsked = true;
    this.#send();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#lines.unsubscribe();
    clearInterval(this.#keepAlive);
    done(error);
  }

  #add(line: LogLine) {
    if (this.#waiting.length >= MAX_WAITING) this.#dropped += 1;
    else this.#waiting.push(eventOf(line));
    this.#send();
  }

  #send() {
    while (this.#isAsked && this.#waiting.length > 0)
      this.#isAsked = this.push(this.#waiting.shift());
    if (!this.#isAsked || this.#dropped === 0) return;
    const text = `${this.#dropped} log lines were dropped: this stream is not read fast enough.`;
    this.#dropped = 0;
    this.#isAsked = this.push(eventOf({ at: Date.now() / 1000, level: 'warn', text }));
  }
}

const eventOf = (line: LogLine) => `data: ${JSON.stringify(line)}\n\n`;

import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';

/** The one deadline of a shutdown: `server.shutdown_grace_ms` after its first hook. */
@Injectable()
export class ShutdownGrace implements OnModuleDestroy {
  readonly #work: Promise<unknown>[] = [];
  #endMs: number | undefined;

  constructor(
    private readonly clock: ProcessClock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onModuleDestroy(): void {
    this.leftMs();
  }

  /** Milliseconds. The first call starts the clock. */
  leftMs(): number {
    const nowMs = this.clock.nowMs();
    this.#endMs ??= nowMs + this.settings.server.shutdownGraceMs;
    return Math.max(0, this.#endMs - nowMs);
  }

  /** The drain waits for it as it waits for requests. */
  waitFor(work: Promise<unknown>): void {
    this.#work.push(work.catch(() => undefined));
  }

  /**
   * Resolves when `requests` and all other work have ended, or the time is up; the time for telling workers is taken off, so
   * that the whole fits the grace. Never rejects unless `requests` does.
   */
  async wait(requests: Promise<unknown>): Promise<void> {
    const waitMs = Math.max(0, this.leftMs() - this.settings.cancellation.rpcTimeoutMs);
    let timer: NodeJS.Timeout | undefined;
    const timeIsUp = new Promise<void>(resolve => (timer = setTimeout(resolve, waitMs)));
    await Promise.race([Promise.all([requests, ...this.#work]), timeIsUp]);
    clearTimeout(timer);
  }
}

import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleDestroy,
} from '@nestjs/common';
import { within } from '@switchyard/engine-api/process/within.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { Settings } from '../../platform/config/settings.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { DispatchLoop } from '../scheduler/dispatch-loop.js';
import { RequestIntake } from '../scheduler/request-intake.js';
import { WorkerPoolService } from '../worker-pool/worker-pool.service.js';

/** Time that rejecting one queued request takes. */
const REJECTION_MS = 0.5;

/** The one deadline of a shutdown: `server.shutdown_grace_ms` after its first hook. */
@Injectable()
export class ShutdownGrace implements OnModuleDestroy {
  readonly #work: Promise<unknown>[] = [];
  #endMs: number | undefined;

  constructor(
    private readonly clock: ProcessClock,
    private readonly settings: Settings,
  ) {}

  onModuleDestroy(): void {
    this.leftMs();
  }

  /** Milliseconds left of `server.shutdown_grace_ms`, which begins with the first call. */
  leftMs(): number {
    const nowMs = this.clock.nowMs();
    this.#endMs ??= nowMs + this.settings.server.shutdownGraceMs;
    return Math.max(0, this.#endMs - nowMs);
  }

  /** Makes the drain wait for this work, as it waits for requests. */
  waitFor(work: Promise<unknown>): void {
    this.#work.push(work.catch(() => undefined));
  }

  /**
   * Resolves when `requests` and all other work have ended, or the time is up. The time
   * for cancelling at workers is subtracted, so that everything fits into the grace.
   * Rejects only if `requests` does.
   * @param spareMs how much earlier the time is up
   */
  async wait(requests: Promise<unknown>, spareMs = 0): Promise<void> {
    const waitMs = Math.max(0, this.leftMs() - this.settings.cancellation.rpcTimeoutMs - spareMs);
    await within(waitMs, Promise.all([requests, ...this.#work]));
  }
}

/**
 * The end, in order: the intake closes, windows close and the queue is sent while time
 * remains, live sessions finish meanwhile → models that other gateways use, too, leave their
 * device → what is left at `server.shutdown_grace_ms` is stopped, each settled → the loop stops → the pool closes its channels last.
 */
@Injectable()
export class ShutdownDrain implements BeforeApplicationShutdown {
  readonly #logger = new Logger(ShutdownDrain.name);
  #drained: Promise<void> | undefined;

  constructor(
    private readonly intake: RequestIntake,
    private readonly loop: DispatchLoop,
    private readonly registry: RequestRegistry,
    private readonly cancellations: CancellationManager,
    private readonly pool: WorkerPoolService,
    private readonly grace: ShutdownGrace,
  ) {}

  /** Idempotent: the same promise. */
  beforeApplicationShutdown(): Promise<void> {
    this.intake.close();
    return (this.#drained ??= this.#drain());
  }

  async #drain(): Promise<void> {
    this.loop.flush();
    // A long queue is rejected ahead of the end, while what runs goes on.
    await this.grace.wait(this.registry.idle(), this.registry.size * REJECTION_MS);
    await this.cancellations.cancelMatching(({ state }) => state === 'queued', 'shutdown');
    await this.grace.wait(Promise.all([this.registry.idle(), this.pool.handOver()]));
    const { size } = this.registry;
    if (size > 0)
      this.#logger.warn(
        { requests: size },
        'shutdown grace is over: cancelling the remaining requests',
      );
    await this.cancellations.cancelMatching(() => true, 'shutdown');
    this.loop.stop();
    await this.pool.close();
  }
}

import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';

export interface WorkerHealthOptions {
  readonly intervalMs: number;
  /** Failed probes in a row until `onUnhealthy`. */
  readonly failures: number;
  probe(): Promise<WorkerHealthReport>;
  onReport(report: WorkerHealthReport): void;
  /** Each failure. */
  onFailure(error: unknown): void;
  /** Called once per series of failures, after `onFailure`. */
  onUnhealthy(): void;
}

/**
 * Probes one worker for life: the next probe starts `intervalMs` after the last one ended, whatever it said. Failures
 * count in a row, one answer forgets them.
 */
export class WorkerHealth {
  #timer: NodeJS.Timeout | undefined;
  #failed = 0;
  #running = false;
  #stopped = false;
  /** What the probe under way finds is out of date already. */
  #again = false;

  constructor(private readonly options: WorkerHealthOptions) {}

  /** Probes now and from then on. A probe under way began too early: its outcome is ignored, and another follows at once. */
  probeNow(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    if (this.#running) this.#again = true;
    else void this.#probe();
  }

  /** For good; an answer under way is ignored. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #probe(): Promise<void> {
    this.#running = true;
    const outcome = await this.options.probe().then(
      report => ({ report }),
      (error: unknown) => ({ error }),
    );
    this.#running = false;
    if (this.#stopped) return;
    if (this.#again) return this.#next();
    if ('report' in outcome) this.#succeeded(outcome.report);
    else this.#failedWith(outcome.error);
    this.#next();
  }

  #succeeded(report: WorkerHealthReport): void {
    this.#failed = 0;
    this.options.onReport(report);
  }

  #failedWith(error: unknown): void {
    this.#failed += 1;
    this.options.onFailure(error);
    if (this.#failed === this.options.failures) this.options.onUnhealthy();
  }

  #next(): void {
    if (this.#stopped) return;
    const delayMs = this.#again ? 0 : this.options.intervalMs;
    this.#again = false;
    this.#timer = setTimeout(() => this.probeNow(), delayMs);
  }
}

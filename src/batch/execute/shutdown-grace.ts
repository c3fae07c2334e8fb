import { type StopReason } from './job-stop.js';

/** How long lines in flight may finish: the setting, and less when the process is told to hurry. */
export class ShutdownGrace {
  #hurried = false;

  /** @param shutdownMs on SIGTERM: less than the time after which whoever sent it kills */
  constructor(
    private readonly graceMs: number,
    private readonly shutdownMs: number,
  ) {}

  /** Nobody is left to wait for. */
  hurry(): void {
    this.#hurried = true;
  }

  msFor(reason: StopReason | undefined): number {
    if (this.#hurried || reason === 'lost') return 0;
    return reason === 'shutdown' ? this.shutdownMs : this.graceMs;
  }
}

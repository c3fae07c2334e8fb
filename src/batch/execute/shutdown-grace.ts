import { type StopReason } from './job-stop.js';

/** How long lines in flight may finish: the setting, and less when the process is told to hurry. */
export class ShutdownGrace {
  #hurried = false;

  constructor(private readonly graceMs: number) {}

  /** Nobody is left to wait for. */
  hurry(): void {
    this.#hurried = true;
  }

  msFor(reason: StopReason | undefined): number {
    return this.#hurried || reason === 'lost' ? 0 : this.graceMs;
  }
}

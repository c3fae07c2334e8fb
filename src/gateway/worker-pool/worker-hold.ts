import { type WorkerLocation } from './worker-location.js';

/** An operator's order to take one worker out of service, through all its processes. */
export class WorkerHold {
  #held = false;
  #restart = false;

  constructor(private readonly location: WorkerLocation) {}

  /** It gets nothing new. */
  get isHeld(): boolean {
    return this.#held;
  }

  /**
   * @param restart once nothing runs, its process is ended, and the next one serves again
   * @returns false, without effect: this gateway does not run its process
   */
  begin(restart: boolean): boolean {
    if (restart && !this.location.restart) return false;
    this.#held = true;
    this.#restart = restart;
    return true;
  }

  /** Idempotent. */
  end(): void {
    this.#held = this.#restart = false;
  }

  /** Its process is gone. */
  gone(): void {
    if (this.#restart) this.end();
  }

  /** Restarts it if that is the order and nothing runs. @param isConnected it has a process that can be reached */
  check(running: number, isConnected: boolean): void {
    if (!this.#restart || running > 0) return;
    this.location.restart?.();
    if (!isConnected) this.end();
  }
}

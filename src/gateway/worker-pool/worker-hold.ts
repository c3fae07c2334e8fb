import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { type WorkerLocation } from './worker-location.js';

/** What a held worker still does. */
export interface HeldWork {
  /** Calls and streams of this gateway. */
  readonly running: number;
  /** Absent: it has no process that can be reached. */
  readonly isConnected: boolean;
  /** Received after the hold began; absent: none yet. */
  readonly report?: WorkerHealthReport;
}

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
   * @returns false, without effect: nobody here can restart it
   */
  begin(restart: boolean): boolean {
    if (restart && !this.location.restart) return false;
    this.#held = true;
    this.#restart = restart;
    this.location.pause?.(true);
    return true;
  }

  /** Idempotent. */
  end(): void {
    this.#held = this.#restart = false;
    this.location.pause?.(false);
  }

  /** Its process is gone. */
  gone(): void {
    if (this.#restart) this.end();
  }

  /** Restarts it if that is the order and nothing runs. */
  check({ running, isConnected, report }: HeldWork): void {
    const pullsNothing = this.location.pause === undefined || !isConnected || report?.inFlight === 0;
    if (!this.#restart || running > 0 || !pullsNothing) return;
    this.location.restart?.();
    if (!isConnected) this.end();
  }
}

import { type ProcessExit } from '../../platform/process/child-process.js';

/** What a pooled worker hears from where it lives. */
export interface HomeEvents {
  /** A process is being started. */
  onStarting(): void;
  /** A process can be reached at host:port; it may still be loading. */
  onReachable(address: string): void;
  /** It says it takes work: worth probing. */
  onReady(): void;
  /** The process is gone; another one may follow. */
  onGone(): void;
}

/** Where a worker lives: a process that the gateway supervises, or an address run by somebody else. */
export interface WorkerLocation {
  readonly pid: number | undefined;
  readonly restarts: number;
  readonly lastExit: ProcessExit | undefined;
  start(events: HomeEvents): void;
  /** The worker no longer answers its probes. */
  onHung(reason: string): void;
  /** Resolves when nothing of the worker is left here. Idempotent: the same promise. */
  stop(): Promise<void>;
}

/** A worker run elsewhere: reachable as far as we know, never started or killed from here. */
export class RemoteHome implements WorkerLocation {
  readonly pid = undefined;
  readonly restarts = 0;
  readonly lastExit = undefined;

  constructor(private readonly address: string) {}

  start(events: HomeEvents): void {
    events.onStarting();
    events.onReachable(this.address);
    events.onReady();
  }

  onHung(): void {
    // Probes go on; the worker is back when one is answered.
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}

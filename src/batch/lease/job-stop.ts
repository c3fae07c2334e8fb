import { pause } from '@switchyard/engine-api/process/pause.js';

/** How long lines in flight may finish: `batch.grace_ms`, or less at shutdown. */
export class LineGrace {
  #hurried = false;

  /**
   * @param shutdownMs on SIGTERM: must end before the sender of the signal
   *   kills the process
   */
  constructor(
    private readonly graceMs: number,
    private readonly shutdownMs: number,
  ) {}

  /** From now on nothing is waited for. */
  hurry(): void {
    this.#hurried = true;
  }

  msFor(reason: JobStopReason | undefined): number {
    if (this.#hurried || reason === 'lost') return 0;
    return reason === 'shutdown' ? this.shutdownMs : this.graceMs;
  }
}

/** Why no further line of a job is sent. */
type JobStopReason =
  | 'expired'
  | 'cancelled'
  | 'failed'
  | 'preempted'
  | 'trouble'
  | 'shutdown'
  | 'lost';

/** A later reason replaces a weaker one: without the lease, no ending may be written. */
const STRENGTH: readonly JobStopReason[] = [
  'preempted',
  'expired',
  'cancelled',
  'failed',
  'trouble',
  'shutdown',
  'lost',
];

const HANDS_OVER: ReadonlySet<JobStopReason | undefined> = new Set([
  'preempted',
  'trouble',
  'shutdown',
  'lost',
]);

/** Stop signal of one job. Its reason can only become stronger. */
export class JobStop {
  #reason: JobStopReason | undefined;
  readonly #listeners = new Set<(reason: JobStopReason) => void>();

  get reason(): JobStopReason | undefined {
    return this.#reason;
  }

  /** No ending may be written: another processor or a later attempt continues. */
  get handsOver(): boolean {
    return HANDS_OVER.has(this.#reason);
  }

  request(reason: JobStopReason): void {
    if (this.#reason !== undefined && STRENGTH.indexOf(reason) <= STRENGTH.indexOf(this.#reason))
      return;
    this.#reason = reason;
    for (const listener of this.#listeners) listener(reason);
  }

  /**
   * Calls `listener` at once if a stop was requested before. @returns a
   * function that unsubscribes
   */
  listen(listener: (reason: JobStopReason) => void): () => void {
    this.#listeners.add(listener);
    if (this.#reason !== undefined) listener(this.#reason);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves after `ms`, or as soon as the job is handed over. */
  async pause(ms: number): Promise<void> {
    const wake = new AbortController();
    const unlisten = this.listen(() => {
      if (this.handsOver) wake.abort();
    });
    await pause(ms, wake.signal);
    unlisten();
  }
}

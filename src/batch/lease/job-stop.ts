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

/** Why no further line of a job is sent. */
export type StopReason = 'expired' | 'cancelled' | 'failed' | 'preempted' | 'trouble' | 'shutdown' | 'lost';

/** A later reason replaces an earlier one when it is stronger: who lost the lease must not write an ending. */
const STRENGTH: readonly StopReason[] = ['preempted', 'expired', 'cancelled', 'failed', 'trouble', 'shutdown', 'lost'];

const HANDS_OVER: ReadonlySet<StopReason | undefined> = new Set(['preempted', 'trouble', 'shutdown', 'lost']);

/** The stop of one job: told once to those who send, and the reason can only get stronger. */
export class JobStop {
  #reason: StopReason | undefined;
  readonly #listeners = new Set<(reason: StopReason) => void>();

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** Nothing may be recorded or written as an ending: another processor, or a later attempt, goes on. */
  get handsOver(): boolean {
    return HANDS_OVER.has(this.#reason);
  }

  request(reason: StopReason): void {
    if (this.#reason !== undefined && STRENGTH.indexOf(reason) <= STRENGTH.indexOf(this.#reason)) return;
    this.#reason = reason;
    for (const listener of this.#listeners) listener(reason);
  }

  /** Called now, when it was requested before. @returns how to stop listening. */
  listen(listener: (reason: StopReason) => void): () => void {
    this.#listeners.add(listener);
    if (this.#reason !== undefined) listener(this.#reason);
    return () => void this.#listeners.delete(listener);
  }
}

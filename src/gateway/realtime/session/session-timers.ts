export interface SessionTimerLimits {
  readonly idleTimeoutMs: number;
  readonly maxSessionMs: number;
  readonly resumeWindowMs: number;
}

export interface SessionEnds {
  onIdle(): void;
  onOld(): void;
  onAbandoned(): void;
}

/** The clocks of a session: its whole life, silence of its client, and absence of its client. */
export class SessionTimers {
  readonly #life: NodeJS.Timeout;
  #idle: NodeJS.Timeout | undefined;
  #absence: NodeJS.Timeout | undefined;

  constructor(
    private readonly limits: SessionTimerLimits,
    private readonly ends: SessionEnds,
  ) {
    this.#life = setTimeout(() => ends.onOld(), limits.maxSessionMs);
  }

  attached(): void {
    clearTimeout(this.#absence);
    // A connection may be taken over from one that still stands.
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.ends.onIdle(), this.limits.idleTimeoutMs);
  }

  /** The client said something. */
  active(): void {
    this.#idle?.refresh();
  }

  detached(): void {
    clearTimeout(this.#idle);
    this.#absence = setTimeout(() => this.ends.onAbandoned(), this.limits.resumeWindowMs);
  }

  stop(): void {
    for (const timer of [this.#life, this.#idle, this.#absence]) clearTimeout(timer);
  }
}

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

/** The timers of a session: its age, idle time, and time without a connection. */
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
    // The connection may replace one that is still open.
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.ends.onIdle(), this.limits.idleTimeoutMs);
  }

  /** The client sent a message. */
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

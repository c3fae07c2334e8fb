/** Exit codes of the command. Scripts may rely on them; `switchyard --help` lists them. */
export const EXIT = {
  ok: 0,
  /** The work was tried and failed, or a check found a problem. */
  failed: 1,
  /** Wrong usage or configuration: nothing was tried. */
  usage: 2,
  /** The gateway or the hub cannot be reached. */
  unreachable: 3,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that is reported in one message, without a stack. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.failed,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CliError';
  }
}

/** Aborts `work` at the first Ctrl-C or SIGTERM, so that it can clean up; the second one ends the process as usual. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort(new InterruptedError());
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  try {
    return await work(interrupted.signal);
  } catch (error) {
    // fetch wraps the reason; the message should say that the user stopped it.
    throw interrupted.signal.aborted ? interrupted.signal.reason : error;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop);
  }
}

export class InterruptedError extends Error {
  constructor() {
    super('stopped');
    this.name = 'InterruptedError';
  }
}

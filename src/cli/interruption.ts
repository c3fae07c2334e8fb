/** Aborts at the first Ctrl-C or SIGTERM, so that what was begun is put away; the second one ends the process as usual. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort(new InterruptedError());
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, stop);
  try {
    return await work(interrupted.signal);
  } catch (error) {
    // fetch wraps the reason; the person wants to hear that they stopped it.
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

import { countsAsAttempt, type WorkerLostError } from './worker-lost.js';

/** What is known of a request that was lost with its worker (D-38). */
export interface Suspicion {
  /**
   * Requests that its next worker may have at the same time, this one included; absent:
   * not a suspect.
   */
  readonly mostTogether?: number;
  /** Losses while it ran alone. */
  readonly alone: number;
  /** Losses while it ran alone in which a process or thread was seen to end. */
  readonly deaths: number;
}

export const UNSUSPECTED: Suspicion = { alone: 0, deaths: 0 };

const MOST_ALONE = 2;

/**
 * One of those that were lost together may have ended their worker, but it is unknown
 * which: each is tried again in at most half as large a group, and alone the next time.
 */
export function suspected(before: Suspicion, together: number, died: boolean): Suspicion {
  const { mostTogether, alone, deaths } = before;
  if (together <= 1 || mostTogether === 1)
    return { mostTogether: 1, alone: alone + 1, deaths: deaths + (died ? 1 : 0) };
  return {
    ...before,
    mostTogether: mostTogether === undefined ? Math.floor(together / 2) : 1,
  };
}

/**
 * The code of a request that was lost alone so often (2); undefined: it is tried
 * again. It ended its workers only if they were seen to end: a connection may break
 * for other reasons.
 */
export const faultOf = ({
  alone,
  deaths,
}: Suspicion): 'worker_crashed' | 'worker_lost' | undefined =>
  alone < MOST_ALONE ? undefined : deaths === alone ? 'worker_crashed' : 'worker_lost';

/**
 * Rejections by workers before the request fails. The next attempt avoids these workers.
 */
const MAX_REFUSALS = 5;

/**
 * How a request may be retried, and which workers to avoid. A worker that drains has not
 * started it, and one that rejects it has not computed it: only rejections are counted,
 * up to `MAX_REFUSALS`.
 */
export class RetryBudget {
  readonly #failedBy = new Set<string>();
  #suspicion = UNSUSPECTED;
  #refusals = 0;

  /** Workers that returned the request, in order. */
  get failedBy(): readonly string[] {
    return [...this.#failedBy];
  }

  get mostTogether(): number | undefined {
    return this.#suspicion.mostTogether;
  }

  /**
   * Records a loss. @returns the code that the request fails with; undefined: it
   * may be retried
   */
  spend(
    workerId: string,
    { kind, together }: WorkerLostError,
  ): 'worker_crashed' | 'worker_lost' | undefined {
    this.#failedBy.add(workerId);
    if (kind === 'refused') this.#refusals += 1;
    else if (countsAsAttempt(kind))
      this.#suspicion = suspected(this.#suspicion, together, kind === 'died');
    return this.#refusals < MAX_REFUSALS ? faultOf(this.#suspicion) : 'worker_lost';
  }
}

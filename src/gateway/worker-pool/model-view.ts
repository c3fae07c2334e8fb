import { type Autostart } from '../../platform/config/model-spec.js';
import { type WorkerView } from './worker-view.js';

/**
 * `loaded`: a worker takes work. `loading`: they start for the first time. `failed`: none is up, and each has ended or
 * cannot be reached; it goes on trying. `unloading`: what runs may end.
 */
export type ModelState = 'unloaded' | 'loading' | 'loaded' | 'unloading' | 'failed';

/** One model as operators and tests see it: a snapshot. */
export interface ModelView {
  readonly id: string;
  readonly state: ModelState;
  /** Why it has failed. */
  readonly reason?: string;
  readonly autostart: Autostart;
  /** While it is unloaded, the next request brings it back. */
  readonly startsOnRequest: boolean;
  readonly idleUnloadS?: number;
  /** Requests and live streams that its workers have now. */
  readonly running: number;
  /** Milliseconds since it was last needed; 0 while something runs. */
  readonly idleMs: number;
  readonly workers: readonly WorkerView[];
}

export interface ModelSituation {
  readonly life: 'unloaded' | 'loaded' | 'unloading';
  readonly workers: readonly WorkerView[];
  /** Why it could not even be started. */
  readonly problem: string | undefined;
}

export function modelState({ life, workers, problem }: ModelSituation): Pick<ModelView, 'state' | 'reason'> {
  if (problem !== undefined) return { state: 'failed', reason: problem };
  if (life !== 'loaded') return { state: life };
  if (workers.some(({ state }) => state === 'ready' || state === 'busy')) return { state: 'loaded' };
  // Without any worker yet, a name server has not answered.
  if (workers.length === 0 || workers.some(isNew)) return { state: 'loading' };
  return { state: 'failed', reason: workers.map(failure).find(reason => reason !== '') ?? 'no worker is up' };
}

const isNew = ({ state, lastExit, problem }: WorkerView): boolean =>
  (state === 'starting' || state === 'draining') && lastExit === undefined && problem === undefined;

function failure({ id, lastExit, problem }: WorkerView): string {
  const reason = problem ?? lastExit?.reason ?? lastExit?.lines.at(-1);
  return reason === undefined ? '' : `${id}: ${reason}`;
}

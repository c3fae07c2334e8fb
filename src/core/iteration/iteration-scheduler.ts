import { agingKey, type Arrival } from './aging-key.js';
import { formPositionGroups } from './position-groups.js';
import { WaitingQueue } from './waiting-queue.js';

/**
 * One iteration as data: the scheduler decides it, a backend runs it, results return through
 * `IterationScheduler.complete`.
 */
export interface StepPlan<T> {
  /** Counts plans from 1. */
  readonly step: number;
  /** Ended since the last plan, by finish, failure or cancel: their state can be freed. */
  readonly leave: readonly T[];
  /** Advance by one token. One native run per group: `position` is equal in a group when the backend needs that. */
  readonly decode: readonly DecodeGroup<T>[];
  /** Join, or start again: encode and prefill them, together. */
  readonly prefill: readonly T[];
}

export interface DecodeGroup<T> {
  /** Tokens that each member has in its cache; of a mixed group the fewest. */
  readonly position: number;
  readonly members: readonly T[];
}

/** The result of one member's step. */
export type StepResult =
  /** It continues with `position` tokens in its cache. */
  | { readonly type: 'continue'; readonly position: number }
  /** Its cache is void: it is prefilled again, in its row (temperature fallback, recompute). */
  | { readonly type: 'restart' }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly error: Error };

/** How a sequence ended; emitted exactly once (D-04). */
export type SequenceEnd =
  { readonly type: 'finished' } | { readonly type: 'cancelled' } | { readonly type: 'failed'; readonly error: Error };

export interface IterationOptions<T> {
  /** Sequences in the running set. */
  readonly maxRows: number;
  /** Milliseconds of waiting that outweigh one priority class (D-21). */
  readonly classWidthMs: number;
  /**
   * For a backend whose rows must be at equal positions: total steps that a sequence may be held while others catch up.
   * Absent: all running sequences advance in one group.
   */
  readonly maxHoldSteps?: number;
  /** Emitted once per sequence; never from inside `submit` or `plan`. */
  readonly ended: (sequence: T, end: SequenceEnd) => void;
}

interface Running<T> {
  readonly sequence: T;
  /** -1: to be prefilled. */
  position: number;
  held: number;
  cancelled: boolean;
}

/**
 * Iteration-level scheduling: sequences join and leave at step boundaries (D-21). Pure and synchronous: `plan` decides;
 * the runner of the native steps calls `complete` with the results. One plan at a time.
 *
 *   submit → waiting → (a row is free) prefill → decode … → finished
 *                ╰──────────── cancel ────────────╯  ╰ restart: prefill again, row and age kept
 */
export class IterationScheduler<T extends Arrival> {
  readonly #waiting = new WaitingQueue<T>();
  readonly #running = new Map<T, Running<T>>();
  #left: T[] = [];
  #planned: Set<T> | undefined;
  #steps = 0;

  constructor(private readonly options: IterationOptions<T>) {}

  get waiting(): number {
    return this.#waiting.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Joins at a step boundary, when a row is free. Each sequence once. */
  submit(sequence: T): void {
    this.#waiting.add(sequence, agingKey(sequence, this.options.classWidthMs));
  }

  /**
   * Waiting, or running between two steps: it ends at once. In a step that runs now: when that step is complete. False
   * when it is unknown or has ended.
   */
  cancel(sequence: T): boolean {
    if (this.#waiting.remove(sequence)) {
      this.options.ended(sequence, { type: 'cancelled' });
      return true;
    }
    const row = this.#running.get(sequence);
    if (row === undefined || row.cancelled) return false;
    row.cancelled = true;
    if (!this.#planned?.has(sequence)) this.#end(sequence, { type: 'cancelled' });
    return true;
  }

  /** The next step, or undefined when there is nothing to run and nothing to free. */
  plan(): StepPlan<T> | undefined {
    if (this.#planned) throw new Error('The last plan is not complete.');
    this.#admit();
    const rows = [...this.#running.values()];
    const leave = this.#left;
    if (rows.length === 0 && leave.length === 0) return undefined;
    this.#left = [];
    const prefill = rows.filter(({ position }) => position < 0).map(({ sequence }) => sequence);
    const decode = this.#decodeGroups(rows.filter(({ position }) => position >= 0));
    this.#planned = new Set([...prefill, ...decode.flatMap(({ members }) => members)]);
    return { step: ++this.#steps, leave, decode, prefill };
  }

  /** The results of the plan, one for each member. A member without one has failed, so none is forgotten. */
  complete(results: ReadonlyMap<T, StepResult>): void {
    const planned = this.#planned ?? new Set();
    this.#planned = undefined;
    for (const sequence of planned) this.#learn(sequence, results.get(sequence));
  }

  #learn(sequence: T, result: StepResult = { type: 'failed', error: new Error('The step gave no result.') }): void {
    const row = this.#running.get(sequence);
    if (row === undefined) return;
    if (row.cancelled) return this.#end(sequence, { type: 'cancelled' });
    if (result.type === 'finished' || result.type === 'failed') return this.#end(sequence, result);
    row.position = result.type === 'continue' ? result.position : -1;
  }

  #end(sequence: T, end: SequenceEnd): void {
    if (!this.#running.delete(sequence)) return;
    this.#left.push(sequence);
    this.options.ended(sequence, end);
  }

  #admit(): void {
    while (this.#running.size < this.options.maxRows) {
      const sequence = this.#waiting.take();
      if (sequence === undefined) return;
      this.#running.set(sequence, { sequence, position: -1, held: 0, cancelled: false });
    }
  }

  #decodeGroups(rows: readonly Running<T>[]): DecodeGroup<T>[] {
    if (rows.length === 0) return [];
    if (this.options.maxHoldSteps === undefined) return [toGroup(rows)];
    const { go, hold } = formPositionGroups(rows, this.options.maxHoldSteps);
    for (const row of hold) row.held += 1;
    return go.map(toGroup);
  }
}

function toGroup<T>(rows: readonly Running<T>[]): DecodeGroup<T> {
  const position = Math.min(...rows.map(row => row.position));
  return { position, members: rows.map(({ sequence }) => sequence) };
}

import { type GenerationPlan, type StepItem, type StepOutcome } from './generation-plan.js';
import { type GenerationRequest } from './generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';

/** An item of a step and its sequence: the same handle may have been submitted again before the step is over. */
export interface Member<T extends GenerationRequest> {
  readonly item: StepItem<T>;
  readonly sequence: GenerationSequence<T>;
}

export interface InFlightStep<T extends GenerationRequest> {
  readonly plan: GenerationPlan<T>;
  readonly members: readonly Member<T>[];
  /** Monotonic milliseconds at which it began: when it was planned, or when the step before it completed. */
  readonly sinceMs: number;
  /** The step before it failed: the backend skips it. */
  readonly isVoid: boolean;
}

/** The only record of steps in flight: the one that runs, and at most one planned behind it. */
export class InFlightSteps<T extends GenerationRequest> {
  #steps: readonly InFlightStep<T>[] = [];

  get size(): number {
    return this.#steps.length;
  }

  /** The step that runs. */
  get oldest(): InFlightStep<T> | undefined {
    return this.#steps[0];
  }

  has(sequence: GenerationSequence<T>): boolean {
    return this.#steps.some(({ members }) => members.some(member => member.sequence === sequence));
  }

  add(plan: GenerationPlan<T>, members: readonly Member<T>[], nowMs: number): void {
    for (const { item, sequence } of members) sequence.started(item);
    this.#steps = [...this.#steps, { plan, members, sinceMs: nowMs, isVoid: false }];
  }

  /** Removes the oldest; the one behind it begins now. @throws Error when no step is in flight */
  complete({ type }: StepOutcome<T>, nowMs: number): InFlightStep<T> {
    const [completed, ...behind] = this.#steps;
    if (completed === undefined) throw new Error('No step is in flight.');
    this.#steps = behind.map(step => ({ ...step, sinceMs: nowMs, isVoid: type !== 'done' }));
    return completed;
  }

  /** Removes all. @returns their members, in order */
  clear(): Member<T>[] {
    const members = this.#steps.flatMap(step => step.members);
    this.#steps = [];
    return members;
  }
}

import { type GenerationPlan, type StepItem, type StepOutcome } from './generation-plan.js';
import { type GenerationRequest } from './generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';

/** An item of a step, and whose it was: a handle may have been submitted again before the step is over. */
export interface Member<T extends GenerationRequest> {
  readonly item: StepItem<T>;
  readonly sequence: GenerationSequence<T>;
}

export interface InFlightStep<T extends GenerationRequest> {
  readonly plan: GenerationPlan<T>;
  readonly members: readonly Member<T>[];
  /** When it began, as far as that is known: the step before it may still run. */
  readonly sinceMs: number;
  /** The step before it failed: it will be skipped. */
  readonly isVoid: boolean;
}

/** The step that runs, and the one planned behind it. */
export class InFlightSteps<T extends GenerationRequest> {
  #flights: readonly InFlightStep<T>[] = [];

  get size(): number {
    return this.#flights.length;
  }

  /** The step that runs, if nothing is planned behind it. */
  get last(): InFlightStep<T> | undefined {
    return this.#flights.length === 1 ? this.#flights[0] : undefined;
  }

  has(sequence: GenerationSequence<T>): boolean {
    return this.#flights.some(({ members }) => members.some(member => member.sequence === sequence));
  }

  depart(plan: GenerationPlan<T>, members: readonly Member<T>[], nowMs: number): void {
    for (const { item, sequence } of members) sequence.depart(item);
    this.#flights = [...this.#flights, { plan, members, sinceMs: nowMs, isVoid: false }];
  }

  /** The older one; the other one begins now, if it does. @throws Error when there is none. */
  land({ type }: StepOutcome<T>, nowMs: number): InFlightStep<T> {
    const [landed, ...behind] = this.#flights;
    if (landed === undefined) throw new Error('There is no plan to complete.');
    this.#flights = behind.map(flight => ({ ...flight, sinceMs: nowMs, isVoid: type !== 'done' }));
    return landed;
  }

  /** All are gone. @returns who was in them, in order */
  lose(): Member<T>[] {
    const members = this.#flights.flatMap(flight => flight.members);
    this.#flights = [];
    return members;
  }
}

import {
  type GenerationPlan,
  itemsOf,
  type ItemResult,
  type StepItem,
  type StepOutcome,
} from '@switchyard/engine-api/generation-plan.js';
import { type GenerationRequest } from '@switchyard/engine-api/generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import { type SequenceRoster } from './sequence-roster.js';

export type StepItems<T> = Pick<GenerationPlan<T>, 'decode' | 'prefill'>;

/**
 * An item of a step and its sequence: the same handle may have been submitted again
 * before the step is over.
 */
interface Member<T extends GenerationRequest> {
  readonly item: StepItem<T>;
  readonly sequence: GenerationSequence<T>;
}

export interface InFlightStep<T extends GenerationRequest> {
  readonly plan: GenerationPlan<T>;
  readonly members: readonly Member<T>[];
  /**
   * Monotonic milliseconds at which it began: when it was planned, or when the step
   * before it completed.
   */
  readonly sinceMs: number;
  /** The step before it failed: the backend skips it. */
  readonly isVoid: boolean;
}

/**
 * The steps in flight (the one that runs, and at most one planned behind it), what their
 * results do to their members, and what is retried. Members of a step that failed as a
 * whole are retried in halves until the one at fault is alone: for n members with one at
 * fault that takes about 2 log2 n steps, and the others lose no token.
 */
export class GenerationSteps<T extends GenerationRequest> {
  #inFlight: readonly InFlightStep<T>[] = [];
  /** Halves of failed steps that are still to be run. */
  #retries: (readonly Member<T>[])[] = [];
  #made = 0;

  constructor(private readonly roster: SequenceRoster<T>) {}

  get inFlight(): number {
    return this.#inFlight.length;
  }

  /** The step that runs. */
  get running(): InFlightStep<T> | undefined {
    return this.#inFlight[0];
  }

  get hasRetries(): boolean {
    return this.#retries.length > 0;
  }

  has(sequence: GenerationSequence<T>): boolean {
    return this.#inFlight.some(({ members }) =>
      members.some(member => member.sequence === sequence),
    );
  }

  /** All sequences of the steps in flight have ended, or end with them. */
  get isUnwanted(): boolean {
    return (
      this.inFlight > 0 &&
      this.#inFlight.every(({ members }) =>
        members.every(({ sequence }) => !this.roster.has(sequence) || sequence.ending),
      )
    );
  }

  start({ decode, prefill }: StepItems<T>, leave: readonly T[], nowMs: number): GenerationPlan<T> {
    const plan = {
      step: ++this.#made,
      ahead: this.inFlight > 0,
      leave,
      decode,
      prefill,
    };
    const members = itemsOf(plan).map(item => ({
      item,
      sequence: this.roster.of(item.request)!,
    }));
    for (const { item, sequence } of members) sequence.started(item);
    this.#inFlight = [...this.#inFlight, { plan, members, sinceMs: nowMs, isVoid: false }];
    return plan;
  }

  /**
   * The outcome of the oldest one; the one behind it begins now. @throws Error when no
   * step is in flight
   */
  complete(outcome: StepOutcome<T>, nowMs: number): InFlightStep<T> {
    const [completed, ...behind] = this.#inFlight;
    if (completed === undefined) throw new Error('No step is in flight.');
    this.#inFlight = behind.map(step => ({
      ...step,
      sinceMs: nowMs,
      isVoid: outcome.type !== 'done',
    }));
    const { members } = completed;
    if (outcome.type === 'failed') this.#divide(members, outcome.error);
    else if (outcome.type === 'skipped') this.#rewind(members);
    else
      for (const member of members) this.#apply(member, outcome.results.get(member.item.request));
    return completed;
  }

  /**
   * The backend died: a single member fails, several are suspects until they are
   * past this point.
   */
  lost(error: Error): void {
    // Of a sequence in two steps the later item counts: it may have been that one.
    const accused = new Map(
      this.#inFlight.flatMap(({ members }) => members.map(one => [one.sequence, one.item])),
    );
    this.#inFlight = [];
    this.#retries = [];
    this.roster.lose();
    for (const [sequence, item] of accused) {
      if (!this.#isActive(sequence)) continue;
      if (accused.size === 1) this.#fail(sequence, error);
      else sequence.accuse(item);
    }
  }

  /** The next half of a failed step, without members that have moved or left. */
  retry(): StepItems<T> | undefined {
    const { running } = this.roster;
    while (this.hasRetries) {
      const members = this.#retries
        .shift()!
        .filter(
          ({ item, sequence }) => running.has(sequence) && sequence.computed === item.position,
        );
      if (members.length === 0) continue;
      const [decode = [], prefill = []] = [true, false].map(isDecode =>
        members
          .filter(({ sequence }) => sequence.decoding === isDecode)
          // A token that was unknown when the step was planned may be known by now.
          .map(({ item, sequence }) => sequence.item(item.count, item.blocks)),
      );
      return { decode, prefill };
    }
    return undefined;
  }

  #apply({ item, sequence }: Member<T>, result: ItemResult = NO_RESULT): void {
    if (!this.#isActive(sequence)) return;
    if (result.type === 'failed') return this.roster.end(sequence, result);
    if (item.sample !== (result.type !== 'computed'))
      return this.#fail(
        sequence,
        new Error('The step drew a token that was not asked for, or none.'),
      );
    sequence.completed(item);
    this.roster.running.computed(sequence);
    if (result.type === 'stop')
      return this.roster.end(sequence, { type: 'finished', reason: 'stop' });
    if (result.type === 'token') this.#emit(sequence, result);
  }

  /** The step failed as a whole: a single member fails, several are retried in halves. */
  #divide(members: readonly Member<T>[], error: Error): void {
    const half = Math.ceil(members.length / 2);
    if (members.length > 1) this.#retries.unshift(members.slice(0, half), members.slice(half));
    this.#rewind(members);
    const [culprit] = members;
    if (members.length === 1 && this.#isActive(culprit!.sequence))
      this.#fail(culprit!.sequence, error);
  }

  /** Nothing was run: all are where they were before. */
  #rewind(members: readonly Member<T>[]): void {
    for (const { sequence } of members) if (this.#isActive(sequence)) sequence.rewind();
  }

  /** False once it has ended; a sequence that was to leave with this step ends here. */
  #isActive(sequence: GenerationSequence<T>): boolean {
    if (!this.roster.has(sequence)) return false;
    if (sequence.ending) this.roster.end(sequence, sequence.ending);
    return sequence.ending === undefined;
  }

  #emit(
    sequence: GenerationSequence<T>,
    { token, stop }: { readonly token: number; readonly stop?: boolean },
  ): void {
    this.roster.drew(sequence, token);
    if (stop) this.roster.end(sequence, { type: 'finished', reason: 'stop' });
    else if (sequence.output >= sequence.request.maxTokens)
      this.roster.end(sequence, { type: 'finished', reason: 'length' });
  }

  #fail(sequence: GenerationSequence<T>, error: Error): void {
    this.roster.end(sequence, { type: 'failed', error });
  }
}

const NO_RESULT: ItemResult = {
  type: 'failed',
  error: new Error('The step gave no result.'),
};

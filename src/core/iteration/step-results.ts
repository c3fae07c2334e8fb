import { type ItemResult, type StepItem } from './generation-plan.js';
import { type GenerationListener, type GenerationRequest } from './generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import { type SequenceRoster } from './sequence-roster.js';
import { type StepItems } from './step-composer.js';
import { type Member } from './in-flight-steps.js';
import { StepRetries } from './step-retries.js';

export interface ResultOptions<T> extends GenerationListener<T> {
  /** Charge of a generated token to its tenant; a token of a prompt is charged 1. */
  readonly outputWeight: number;
}

/** Applies the results of a step to its members. */
export class StepResults<T extends GenerationRequest> {
  readonly #retries = new StepRetries<Member<T>>();

  constructor(
    private readonly options: ResultOptions<T>,
    private readonly roster: SequenceRoster<T>,
  ) {}

  /** Halves of failed steps are still to be run. */
  get hasRetries(): boolean {
    return this.#retries.size > 0;
  }

  apply(
    { item, sequence }: Member<T>,
    result: ItemResult = { type: 'failed', error: new Error('The step gave no result.') },
  ): void {
    if (!this.#isActive(sequence)) return;
    if (result.type === 'failed') return this.roster.end(sequence, result);
    if (item.sample !== (result.type !== 'computed'))
      return this.#fail(sequence, new Error('The step drew a token that was not asked for, or none.'));
    sequence.completed(item);
    this.roster.running.computed(sequence);
    if (result.type === 'stop') return this.roster.end(sequence, { type: 'finished', reason: 'stop' });
    if (result.type === 'token') this.#emit(sequence, result);
  }

  /** The step failed as a whole: a single member fails, several are retried in halves. */
  divide(members: readonly Member<T>[], error: Error): void {
    const culprit = this.#retries.split(members);
    this.skip(members);
    if (culprit && this.#isActive(culprit.sequence)) this.#fail(culprit.sequence, error);
  }

  /** Nothing was run: all are where they were before. */
  skip(members: readonly Member<T>[]): void {
    for (const { sequence } of members) if (this.#isActive(sequence)) sequence.rewind();
  }

  /** The backend died in this step: a single member fails, several are suspects until they are past this point. */
  suspect(members: readonly Member<T>[], error: Error): void {
    this.#retries.clear();
    // Of a sequence in two steps the later item counts: it may have been that one.
    const accused = new Map(members.map(({ item, sequence }) => [sequence, item]));
    for (const [sequence, item] of accused) {
      if (!this.#isActive(sequence)) continue;
      if (accused.size === 1) this.#fail(sequence, error);
      else sequence.accuse(item);
    }
  }

  /** The next half of a failed step, without members that have moved or left. */
  retry(): StepItems<T> | undefined {
    const { running } = this.roster;
    const members = this.#retries.next(({ item, sequence }) => running.at(sequence) === item.position);
    if (members === undefined) return undefined;
    const isDecode = ({ sequence }: Member<T>): boolean => sequence.decoding;
    // A token that was unknown when the step was planned may be known by now.
    const again = ({ item, sequence }: Member<T>): StepItem<T> => sequence.item(item.count, item.blocks);
    return {
      decode: members.filter(isDecode).map(again),
      prefill: members.filter(member => !isDecode(member)).map(again),
    };
  }

  /** False once it has ended; a sequence that was to leave with this step ends here. */
  #isActive(sequence: GenerationSequence<T>): boolean {
    if (!this.roster.has(sequence)) return false;
    if (sequence.ending) this.roster.end(sequence, sequence.ending);
    return sequence.ending === undefined;
  }

  #emit(sequence: GenerationSequence<T>, { token, stop }: { readonly token: number; readonly stop?: boolean }): void {
    const { request } = sequence;
    sequence.tokens.push(token);
    this.roster.counters.charge(sequence.tenant, this.options.outputWeight);
    this.options.emitted(request, token, sequence.output - 1);
    if (stop) this.roster.end(sequence, { type: 'finished', reason: 'stop' });
    else if (sequence.output >= request.maxTokens) this.roster.end(sequence, { type: 'finished', reason: 'length' });
  }

  #fail(sequence: GenerationSequence<T>, error: Error): void {
    this.roster.end(sequence, { type: 'failed', error });
  }
}

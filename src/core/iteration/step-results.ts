import { type ItemResult, type StepItem } from './generation-plan.js';
import { type GenerationListener, type GenerationRequest } from './generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import { type SequenceRoster } from './sequence-roster.js';
import { type StepItems } from './step-composer.js';
import { type Member } from './in-flight-steps.js';
import { StepRetries } from './step-retries.js';

export interface ResultOptions<T> extends GenerationListener<T> {
  /** What a generated token counts on its tenant's counter; a token of a prompt counts 1. */
  readonly outputWeight: number;
}

/** What the results of a step mean for those who were in it. */
export class StepResults<T extends GenerationRequest> {
  readonly #options: ResultOptions<T>;
  readonly #roster: SequenceRoster<T>;
  readonly #retries = new StepRetries<Member<T>>();

  constructor(options: ResultOptions<T>, roster: SequenceRoster<T>) {
    this.#options = options;
    this.#roster = roster;
  }

  /** Halves of failed steps wait to be run. */
  get hasRetries(): boolean {
    return this.#retries.size > 0;
  }

  learn(
    { item, sequence }: Member<T>,
    result: ItemResult = { type: 'failed', error: new Error('The step gave no result.') },
  ): void {
    if (!this.#isHere(sequence)) return;
    if (result.type === 'failed') return this.#roster.end(sequence, result);
    if (item.sample !== (result.type !== 'computed'))
      return this.#fail(sequence, new Error('The step drew a token too many, or too few.'));
    sequence.arrive(item);
    this.#roster.running.learn(sequence, item.position);
    if (result.type === 'stop') return this.#roster.end(sequence, { type: 'finished', reason: 'stop' });
    if (result.type === 'token') this.#emit(sequence, result);
  }

  /** The step failed as a whole: who was alone in it fails, others are tried again in halves. */
  divide(members: readonly Member<T>[], error: Error): void {
    const culprit = this.#retries.split(members);
    this.skip(members);
    if (culprit && this.#isHere(culprit.sequence)) this.#fail(culprit.sequence, error);
  }

  /** Nothing was run: all are where they were before. */
  skip(members: readonly Member<T>[]): void {
    for (const { sequence } of members) if (this.#isHere(sequence)) sequence.rewind();
  }

  /** The backend died in this step: who was alone in it fails, others are suspects until past this point. */
  suspect(members: readonly Member<T>[], error: Error): void {
    this.#retries.clear();
    // Of one that is in the step that ran and in the one behind it, the later item: it may have been that.
    const accused = new Map(members.map(({ item, sequence }) => [sequence, item]));
    for (const [sequence, item] of accused) {
      if (!this.#isHere(sequence)) continue;
      if (accused.size === 1) this.#fail(sequence, error);
      else sequence.accuse(item);
    }
  }

  /** The next half of a failed step with those who are still where they were. */
  retry(): StepItems<T> | undefined {
    const { running } = this.#roster;
    const members = this.#retries.next(({ item, sequence }) => running.at(sequence) === item.position);
    if (members === undefined) return undefined;
    const isDecode = ({ sequence }: Member<T>): boolean => sequence.decoding;
    // Made anew: a token that was not known when the step was planned may be known by now.
    const again = ({ item, sequence }: Member<T>): StepItem<T> => sequence.item(item.count, item.blocks);
    return {
      decode: members.filter(isDecode).map(again),
      prefill: members.filter(member => !isDecode(member)).map(again),
    };
  }

  /** Who was to leave while the step ran ends here. */
  #isHere(sequence: GenerationSequence<T>): boolean {
    if (!this.#roster.has(sequence)) return false;
    if (sequence.ending) this.#roster.end(sequence, sequence.ending);
    return sequence.ending === undefined;
  }

  #emit(sequence: GenerationSequence<T>, { token, stop }: { readonly token: number; readonly stop?: boolean }): void {
    const { request } = sequence;
    sequence.tokens.push(token);
    this.#roster.counters.charge(sequence.tenant, this.#options.outputWeight);
    this.#options.emitted(request, token, sequence.output - 1);
    if (stop) this.#roster.end(sequence, { type: 'finished', reason: 'stop' });
    else if (sequence.output >= request.maxTokens) this.#roster.end(sequence, { type: 'finished', reason: 'length' });
  }

  #fail(sequence: GenerationSequence<T>, error: Error): void {
    this.#roster.end(sequence, { type: 'failed', error });
  }
}

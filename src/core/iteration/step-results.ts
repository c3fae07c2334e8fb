import { type ItemResult, type StepItem } from './generation-plan.js';
import { type GenerationListener, type GenerationRequest } from './generation-request.js';
import { type GenerationSequence } from './generation-sequence.js';
import { type SequenceRoster } from './sequence-roster.js';
import { type StepItems } from './step-composer.js';
import { StepRetries } from './step-retries.js';

export interface ResultOptions<T> extends GenerationListener<T> {
  /** What a generated token counts on its tenant's counter; a token of a prompt counts 1. */
  readonly outputWeight: number;
}

/** What the results of a step mean for those who were in it. */
export class StepResults<T extends GenerationRequest> {
  readonly #options: ResultOptions<T>;
  readonly #roster: SequenceRoster<T>;
  readonly #retries = new StepRetries<T>();

  constructor(options: ResultOptions<T>, roster: SequenceRoster<T>) {
    this.#options = options;
    this.#roster = roster;
  }

  /** Halves of failed steps wait to be run. */
  get hasRetries(): boolean {
    return this.#retries.size > 0;
  }

  learn(
    item: StepItem<T>,
    result: ItemResult = { type: 'failed', error: new Error('The step gave no result.') },
  ): void {
    const sequence = this.#survivor(item.request);
    if (sequence === undefined) return;
    if (result.type === 'failed') return this.#roster.end(sequence, result);
    if (item.sample !== (result.type !== 'computed'))
      return this.#fail(sequence, new Error('The step drew a token too many, or too few.'));
    sequence.computed += item.tokens.length;
    this.#roster.running.learn(sequence, item.position);
    if (result.type === 'stop') return this.#roster.end(sequence, { type: 'finished', reason: 'stop' });
    if (result.type === 'token') this.#emit(sequence, result);
  }

  /** The step failed as a whole: who was alone in it fails, others are tried again in halves. */
  divide(items: readonly StepItem<T>[], error: Error): void {
    const culprit = this.#retries.split(items);
    for (const item of items) {
      const sequence = this.#survivor(item.request);
      if (sequence && item === culprit) this.#fail(sequence, error);
    }
  }

  /** The backend died in this step: who was alone in it fails, others are suspects until past this point. */
  suspect(items: readonly StepItem<T>[], error: Error): void {
    this.#retries.clear();
    for (const item of items) {
      const sequence = this.#survivor(item.request);
      if (sequence === undefined) continue;
      if (items.length === 1) this.#fail(sequence, error);
      else sequence.accuse(item);
    }
  }

  /** The next half of a failed step with those who are still where they were. */
  retry(): StepItems<T> | undefined {
    const { running } = this.#roster;
    const items = this.#retries.next(({ request, position }) => running.at(this.#roster.of(request)) === position);
    if (items === undefined) return undefined;
    const isDecode = ({ request }: StepItem<T>): boolean => this.#roster.of(request)!.decoding;
    return { decode: items.filter(isDecode), prefill: items.filter(item => !isDecode(item)) };
  }

  /** Who was cancelled while the step ran ends here. */
  #survivor(request: T): GenerationSequence<T> | undefined {
    const sequence = this.#roster.of(request);
    if (!sequence?.cancelled) return sequence;
    this.#roster.end(sequence, { type: 'cancelled', reason: sequence.cancelled });
    return undefined;
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

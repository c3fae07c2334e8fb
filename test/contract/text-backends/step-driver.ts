import { itemsOf, type ItemResult, type StepItem } from '@switchyard/engine-api/generation-plan.js';
import {
  type Drawn,
  type Sampling,
  type TextBackend,
  type TextSequence,
} from '@switchyard/engine-api/text-backend.port.js';

export const GREEDY: Sampling = {
  temperature: 0,
  topP: 1,
  topK: 0,
  minP: 0,
  seed: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  repeatPenalty: 1,
};

/** Without end: the words of an answer that is as long as it may be. */
export const DICED: Sampling = { ...GREEDY, temperature: 1, seed: 7 };

export function sequence(
  prompt: readonly number[],
  sampling: Sampling = GREEDY,
  salt = 'a',
): TextSequence {
  return {
    priorityClass: 0,
    arrivalMs: 0,
    tenant: salt,
    salt,
    maxTokens: 64,
    prompt,
    sampling,
  };
}

/** One sequence as a contract drives it by hand. */
interface Driven {
  /** Prompt, and what was drawn so far. */
  readonly tokens: number[];
  computed: number;
}

export interface Step {
  readonly sequence: TextSequence;
  /** Tokens of it that go through the model; absent: all that are pending. */
  readonly tokens?: number;
}

/** Plans without a scheduler: who runs, and how much of it, is said by the test. */
export class StepDriver {
  readonly #backend: TextBackend;
  readonly #driven = new Map<TextSequence, Driven>();
  readonly #held = new Set<TextSequence>();
  #leave: TextSequence[] = [];
  #steps = 0;
  /** By the last step. */
  drawn: ReadonlyMap<TextSequence, Drawn> = new Map();

  constructor(backend: TextBackend) {
    this.#backend = backend;
  }

  /** Runs the plan; all that is pending of each unless said otherwise. */
  async step(...steps: readonly (TextSequence | Step)[]): Promise<Map<TextSequence, ItemResult>> {
    const items = steps.map(step => this.#item('sequence' in step ? step : { sequence: step }));
    const decode = items.filter(item => this.#isDecode(item));
    const prefill = items.filter(item => !this.#isDecode(item));
    const leave = this.#leave;
    this.#leave = [];
    const outcome = await this.#backend.run({
      step: ++this.#steps,
      ahead: false,
      leave,
      decode,
      prefill,
    });
    if (outcome.type === 'failed') throw outcome.error;
    if (outcome.type === 'skipped') throw new Error('A step that was not sent ahead was skipped.');
    this.drawn = outcome.drawn;
    for (const item of items) this.#learn(item, outcome.results.get(item.request));
    return new Map(outcome.results);
  }

  /**
   * Each decodes once in a step, and once more in one that is sent while that runs.
   * @returns the tokens drawn by both
   */
  async stepTwice(...sequences: readonly TextSequence[]): Promise<number[][]> {
    const first = sequences.map(one => this.#item({ sequence: one }));
    const second = first.map(item => ({
      ...item,
      position: item.position + item.count,
      count: 1,
      tokens: [],
    }));
    const plans = [first, second].map((decode, index) => {
      return { step: ++this.#steps, ahead: index > 0, leave: [], decode, prefill: [] };
    });
    const outcomes = await Promise.all(plans.map(plan => this.#backend.run(plan)));
    outcomes.forEach((outcome, index) => {
      if (outcome.type !== 'done') throw new Error(outcome.type);
      for (const item of itemsOf(plans[index]!))
        this.#learn(item, outcome.results.get(item.request));
    });
    return sequences.map(one => this.output(one).slice(-2));
  }

  /** Steps until each has `count` tokens or has stopped. @returns the tokens of each */
  async generate(count: number, ...sequences: readonly TextSequence[]): Promise<number[][]> {
    const stopped = new Set<TextSequence>();
    const isDone = (one: TextSequence) => stopped.has(one) || this.output(one).length >= count;
    for (;;) {
      const going = sequences.filter(one => !isDone(one));
      if (going.length === 0) return sequences.map(one => this.output(one));
      for (const [one, { type }] of await this.step(...going))
        if (type === 'stop') stopped.add(one);
    }
  }

  output(one: TextSequence): number[] {
    return this.#driven.get(one)?.tokens.slice(one.prompt.length) ?? [];
  }

  /** Its memory is taken; it may come back and is computed again. */
  preempt(one: TextSequence): void {
    this.#release(one);
    this.#leave.push(one);
  }

  /** All is computed again: the backend was opened anew. */
  lose(): void {
    for (const one of this.#driven.keys()) this.#release(one);
    this.#backend.memory.forgetContents();
  }

  /** They are gone for good, and their memory with a step of nobody. */
  async end(...sequences: readonly TextSequence[]): Promise<void> {
    for (const one of sequences) {
      this.preempt(one);
      this.#driven.delete(one);
    }
    await this.step();
  }

  #release(one: TextSequence): void {
    this.#backend.memory.release(one);
    this.#held.delete(one);
  }

  #item({ sequence: one, tokens: wanted }: Step): StepItem<TextSequence> {
    const driven = this.#of(one);
    const pending = driven.tokens.slice(driven.computed);
    const tokens = pending.slice(0, wanted ?? pending.length);
    const sample = tokens.length === pending.length;
    const position = driven.computed;
    const blocks = this.#backend.memory.blocksOf(one);
    return { request: one, position, count: tokens.length, tokens, sample, blocks };
  }

  #isDecode({ position, count, request }: StepItem<TextSequence>): boolean {
    return count === 1 && position >= request.prompt.length;
  }

  #learn({ request, count }: StepItem<TextSequence>, result: ItemResult | undefined): void {
    if (result === undefined) throw new Error('an item without a result');
    if (result.type === 'failed') throw result.error;
    const driven = this.#of(request);
    driven.computed += count;
    this.#backend.memory.computed(request, driven.computed);
    if (result.type === 'token') driven.tokens.push(result.token);
  }

  #of(one: TextSequence): Driven {
    const { memory } = this.#backend;
    const driven = this.#driven.get(one) ?? { tokens: [...one.prompt], computed: 0 };
    this.#driven.set(one, driven);
    if (this.#held.has(one)) return driven;
    const capacity = one.prompt.length + one.maxTokens;
    const computed = memory.allocate(one, { salt: one.salt, tokens: driven.tokens, capacity });
    if (computed === undefined) throw new Error('no room is free');
    driven.computed = computed;
    this.#held.add(one);
    return driven;
  }
}

export const textOf = (drawn: readonly (Drawn | undefined)[]): string =>
  Buffer.concat(drawn.map(one => one?.bytes ?? Buffer.alloc(0))).toString();

import { agingKey } from './aging-key.js';
import { type StepItem } from './generation-plan.js';
import { type GenerationEnd, type GenerationRequest } from './generation-request.js';

/** A request as the scheduler keeps it, waiting or running. */
export class GenerationSequence<T extends GenerationRequest> {
  readonly request: T;
  readonly tenant: string;
  readonly priorityClass: number;
  readonly agingShare: number | undefined;
  /** It runs because it was its turn, while class 0 waited: class 0 does not take that back. */
  hadTurn = false;
  /** Static: kept through preemption, so that age is never lost. */
  readonly key: number;
  /** Prompt and answer so far. */
  readonly tokens: number[];
  /** Times that its memory was taken for others. */
  preemptions = 0;
  /** Requests behind it that went first because they fitted. */
  overtaken = 0;
  /** When, and in which state of the memory, it did not fit. */
  blocked: { readonly epoch: number; readonly atMs: number } | undefined;
  /** Its prompt was put on its tenant's counter. */
  charged = false;
  /** Since when its consumer takes nothing more. */
  pausedSinceMs: number | undefined;
  /** How it ends with the step that runs now. */
  ending: GenerationEnd | undefined;
  /** Steps with others that killed the backend. */
  losses = 0;
  /** It runs alone until so many tokens are computed. */
  suspectUntil = 0;

  #computed = 0;
  #planned = 0;
  #awaited = 0;

  constructor(request: T, classWidthMs: number) {
    this.request = request;
    this.tenant = request.tenant;
    this.priorityClass = request.priorityClass;
    this.agingShare = request.agingShare;
    this.key = agingKey(request, classWidthMs);
    this.tokens = [...request.prompt];
  }

  get output(): number {
    return this.tokens.length - this.request.prompt.length;
  }

  /** Tokens whose KV is there. */
  get computed(): number {
    return this.#computed;
  }

  /** Tokens whose KV is there once the steps that run are done. */
  get planned(): number {
    return this.#planned;
  }

  /** Tokens that must go through the model before the next one can be drawn; the steps that run are taken as done. */
  get pending(): number {
    return this.tokens.length + this.#awaited - this.#planned;
  }

  /** Nothing but its newest token is pending, which may be drawn just now. */
  get decoding(): boolean {
    return this.output + this.#awaited > 0 && this.pending === 1;
  }

  /** It can be in the next step: its consumer takes tokens, and the steps that run are not its last ones. */
  get isDue(): boolean {
    return !this.paused && this.ending === undefined && this.output + this.#awaited < this.request.maxTokens;
  }

  /** Most tokens that it ever has in memory: the last one drawn is shown, not computed. */
  get most(): number {
    return mostTokens(this.request);
  }

  get paused(): boolean {
    return this.pausedSinceMs !== undefined;
  }

  get suspect(): boolean {
    return this.computed < this.suspectUntil;
  }

  /** It was in a step that killed the backend. Each time it stays alone one token longer: what kills may not be the recompute. */
  accuse({ position, count }: StepItem<T>): void {
    this.suspectUntil = position + count + this.losses;
    this.losses += 1;
  }

  /** It begins, or begins again: so many tokens are found computed. */
  begin(computed: number): void {
    this.#computed = computed;
    this.rewind();
  }

  /** Its next `count` tokens as an item of a step. */
  item(count: number, blocks: readonly number[]): StepItem<T> {
    const { request, planned: position } = this;
    const tokens = this.tokens.slice(position, position + count);
    return { request, position, count, tokens, sample: count === this.pending, blocks };
  }

  /** The item is in a step that runs, or is planned behind it. */
  depart({ count, sample }: StepItem<T>): void {
    this.#planned += count;
    if (sample) this.#awaited += 1;
  }

  /** The step did what it should. */
  arrive({ count, sample }: StepItem<T>): void {
    this.#computed += count;
    if (sample) this.#awaited -= 1;
  }

  /** What ran, or should have, came to nothing. */
  rewind(): void {
    this.#planned = this.#computed;
    this.#awaited = 0;
  }
}

export const mostTokens = ({ prompt, maxTokens }: GenerationRequest): number => prompt.length + maxTokens - 1;

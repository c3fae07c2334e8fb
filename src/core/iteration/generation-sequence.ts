import { agingKey } from './aging-key.js';
import { type StepItem } from './generation-plan.js';
import { type CancelReason, type GenerationRequest } from './generation-request.js';

/** A request as the scheduler keeps it, waiting or running. */
export class GenerationSequence<T extends GenerationRequest> {
  readonly request: T;
  readonly tenant: string;
  /** Static: kept through preemption, so that age is never lost. */
  readonly key: number;
  /** Prompt and answer so far. */
  readonly tokens: number[];
  /** Tokens whose KV is there. */
  computed = 0;
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
  /** Ends with the step that runs now. */
  cancelled: CancelReason | undefined;
  /** Steps with others that killed the backend. */
  losses = 0;
  /** It runs alone until so many tokens are computed. */
  suspectUntil = 0;

  constructor(request: T, classWidthMs: number) {
    this.request = request;
    this.tenant = request.tenant;
    this.key = agingKey(request, classWidthMs);
    this.tokens = [...request.prompt];
  }

  get output(): number {
    return this.tokens.length - this.request.prompt.length;
  }

  /** Tokens that must go through the model before the next one can be drawn. */
  get pending(): number {
    return this.tokens.length - this.computed;
  }

  /** Nothing but its newest token is pending. */
  get decoding(): boolean {
    return this.output > 0 && this.pending === 1;
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
  accuse({ position, tokens }: StepItem<T>): void {
    this.suspectUntil = position + tokens.length + this.losses;
    this.losses += 1;
  }

  /** Its next `count` tokens as an item of a step. */
  item(count: number, blocks: readonly number[]): StepItem<T> {
    const tokens = this.tokens.slice(this.computed, this.computed + count);
    return { request: this.request, position: this.computed, tokens, sample: count === this.pending, blocks };
  }
}

export const mostTokens = ({ prompt, maxTokens }: GenerationRequest): number => prompt.length + maxTokens - 1;

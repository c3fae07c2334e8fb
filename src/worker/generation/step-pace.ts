import { type GenerationPlan, itemsOf } from '../../core/iteration/generation-plan.js';

/** Weight of the newest step. */
const NEWEST = 0.3;
/** Of the time that a step is expected to take, and milliseconds: what planning and sending the next one may need. */
const LEAD_SHARE = 0.2;
const LEAD_MS = 2;

/**
 * How long steps take, by the last ones of their kind: those in which all decode, and those with prompts, by their tokens. The next
 * step is planned late in the one that runs, so that whoever comes meanwhile is in it.
 */
export class StepPace {
  #decodingMs: number | undefined;
  #promptTokenMs: number | undefined;

  /** Milliseconds after its begin at which the step behind this one is to be planned; 0: at once, also where nothing is known. */
  planAfterMs(plan: GenerationPlan<unknown>): number {
    const expectedMs = hasPrompts(plan) ? (this.#promptTokenMs ?? 0) * tokensOf(plan) : (this.#decodingMs ?? 0);
    return Math.max(0, Math.floor(expectedMs * (1 - LEAD_SHARE) - LEAD_MS));
  }

  /** What a step took. */
  observe(plan: GenerationPlan<unknown>, ms: number): void {
    if (hasPrompts(plan)) this.#promptTokenMs = blended(this.#promptTokenMs, ms / tokensOf(plan));
    else if (plan.decode.length > 0) this.#decodingMs = blended(this.#decodingMs, ms);
  }
}

const hasPrompts = ({ prefill }: GenerationPlan<unknown>): boolean => prefill.length > 0;
const tokensOf = (plan: GenerationPlan<unknown>): number => itemsOf(plan).reduce((sum, { count }) => sum + count, 0);
const blended = (known: number | undefined, newest: number): number =>
  known === undefined ? newest : known + NEWEST * (newest - known);

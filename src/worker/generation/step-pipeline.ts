import { type GenerationPlan, itemsOf } from '@switchyard/engine-api/generation-plan.js';
import { within } from '@switchyard/engine-api/process/within.js';
import { type TextBackend, type TextOutcome } from '@switchyard/engine-api/text-backend.port.js';
import { type InFlightStep } from '../../core/iteration/generation-steps.js';
import { blended } from '../../core/latency/means.js';
import { type LiveSequence } from './sequence-events.js';

/** Weight of the newest step. */
const NEWEST = 0.3;

/**
 * Of the time that a step is expected to take, and milliseconds: what planning and
 * sending the next one may need.
 */
const LEAD_SHARE = 0.2;

const LEAD_MS = 2;

/**
 * How long steps take, by the last ones of their kind: those in which all decode, and
 * those with prompts, by their tokens. The next step is planned late in the one that
 * runs, so that whoever comes meanwhile is in it.
 */
export function stepPace() {
  let decodingMs: number | undefined;
  let promptTokenMs: number | undefined;
  return {
    /**
     * Milliseconds after its begin at which the step behind this one is to be planned; 0:
     * at once, also where nothing is known.
     */
    planAfterMs: (plan: GenerationPlan<unknown>): number => {
      const expectedMs = hasPrompts(plan)
        ? (promptTokenMs ?? 0) * tokensOf(plan)
        : (decodingMs ?? 0);
      return Math.max(0, Math.floor(expectedMs * (1 - LEAD_SHARE) - LEAD_MS));
    },
    /** Learns from the milliseconds that a step took. */
    observe: (plan: GenerationPlan<unknown>, ms: number): void => {
      if (hasPrompts(plan)) promptTokenMs = blended(promptTokenMs, ms / tokensOf(plan), NEWEST);
      else if (plan.decode.length > 0) decodingMs = blended(decodingMs, ms, NEWEST);
    },
  };
}

const hasPrompts = ({ prefill }: GenerationPlan<unknown>): boolean => prefill.length > 0;

const tokensOf = (plan: GenerationPlan<unknown>): number =>
  itemsOf(plan).reduce((sum, { count }) => sum + count, 0);

type Step = Pick<InFlightStep<LiveSequence>, 'plan' | 'sinceMs'>;

interface Sent {
  readonly outcome: Promise<TextOutcome>;
  isOver: boolean;
}

/**
 * Sends plans to a backend and waits for their outcomes. Which steps are in flight is the
 * scheduler's to know (`InFlightSteps`).
 */
export class StepPipeline {
  readonly #pace = stepPace();
  readonly #sent = new WeakMap<GenerationPlan<LiveSequence>, Sent>();

  constructor(
    private readonly backend: TextBackend,
    private readonly nowMs: () => number,
  ) {}

  send(plan: GenerationPlan<LiveSequence>): void {
    const sent: Sent = { outcome: this.backend.run(plan), isOver: false };
    const over = (): void => void (sent.isOver = true);
    // Also for an outcome that is never awaited, because the step before it found
    // the backend dead.
    sent.outcome.then(over, over);
    this.#sent.set(plan, sent);
  }

  /**
   * Resolves late in the step that runs, with true: time to send the next one. Resolves
   * with false if it is over already.
   */
  async untilLate({ plan, sinceMs }: Step): Promise<boolean> {
    const sent = this.#of(plan);
    const lateMs = sinceMs + this.#pace.planAfterMs(plan) - this.nowMs();
    if (lateMs >= 1) await over(sent, lateMs);
    return !sent.isOver;
  }

  /** The outcome of the step that runs. @throws Error when the backend is gone */
  async outcome({ plan, sinceMs }: Step): Promise<TextOutcome> {
    const outcome = await this.#of(plan).outcome;
    if (outcome.type === 'done') this.#pace.observe(plan, this.nowMs() - sinceMs);
    return outcome;
  }

  #of(plan: GenerationPlan<LiveSequence>): Sent {
    const sent = this.#sent.get(plan);
    if (sent === undefined) throw new Error('This plan was not sent.');
    return sent;
  }
}

/** Resolves when the step is over, at the latest after `mostMs`. */
const over = ({ outcome }: Sent, mostMs: number) => within(mostMs, outcome).catch(() => undefined);

import { type GenerationPlan } from '../../core/iteration/generation-plan.js';
import { type InFlightStep } from '../../core/iteration/in-flight-steps.js';
import { type LiveSequence } from './live-sequence.js';
import { StepPace } from './step-pace.js';
import { type TextBackend, type TextOutcome } from './text-backend.port.js';

type Step = Pick<InFlightStep<LiveSequence>, 'plan' | 'sinceMs'>;

interface Sent {
  readonly outcome: Promise<TextOutcome>;
  isOver: boolean;
}

/**
 * Sends plans to a backend and waits for their outcomes. Which steps are in flight is the scheduler's to know
 * (`InFlightSteps`).
 */
export class StepPipeline {
  readonly #pace = new StepPace();
  readonly #sent = new WeakMap<GenerationPlan<LiveSequence>, Sent>();
  readonly #backend: TextBackend;
  readonly #nowMs: () => number;

  constructor(backend: TextBackend, nowMs: () => number) {
    this.#backend = backend;
    this.#nowMs = nowMs;
  }

  send(plan: GenerationPlan<LiveSequence>): void {
    const sent: Sent = { outcome: this.#backend.run(plan), isOver: false };
    const over = (): void => void (sent.isOver = true);
    // Also for an outcome that is never awaited, because the step before it found the backend dead.
    sent.outcome.then(over, over);
    this.#sent.set(plan, sent);
  }

  /**
   * Resolves late in the step that runs, with true: time to send the next one. Resolves with false if it is over
   * already.
   */
  async untilLate({ plan, sinceMs }: Step): Promise<boolean> {
    const sent = this.#of(plan);
    const lateMs = sinceMs + this.#pace.planAfterMs(plan) - this.#nowMs();
    if (lateMs >= 1) await over(sent, lateMs);
    return !sent.isOver;
  }

  /** The outcome of the step that runs. @throws Error when the backend is gone */
  async outcome({ plan, sinceMs }: Step): Promise<TextOutcome> {
    const outcome = await this.#of(plan).outcome;
    this.#pace.observe(plan, this.#nowMs() - sinceMs);
    return outcome;
  }

  #of(plan: GenerationPlan<LiveSequence>): Sent {
    const sent = this.#sent.get(plan);
    if (sent === undefined) throw new Error('This plan was not sent.');
    return sent;
  }
}

/** Resolves when the step is over, at the latest after `mostMs`. */
async function over({ outcome }: Sent, mostMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>(resolve => (timer = setTimeout(resolve, mostMs)));
  await Promise.race([outcome, late]).catch(() => undefined);
  clearTimeout(timer);
}

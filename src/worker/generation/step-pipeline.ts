import { type GenerationPlan } from '../../core/iteration/generation-plan.js';
import { type LiveSequence } from './live-sequence.js';
import { StepPace } from './step-pace.js';
import { type TextBackend, type TextOutcome } from './text-backend.port.js';

type Plan = GenerationPlan<LiveSequence>;

interface Flight {
  readonly plan: Plan;
  readonly outcome: Promise<TextOutcome>;
  isOver: boolean;
}

/** The step that a backend runs, and the one sent behind it. */
export class StepPipeline {
  readonly #pace = new StepPace();
  #flights: Flight[] = [];
  /** Monotonic milliseconds: when the step that runs began. */
  #beganMs = 0;

  constructor(
    private readonly backend: TextBackend,
    private readonly nowMs: () => number,
  ) {}

  get size(): number {
    return this.#flights.length;
  }

  send(plan: Plan): void {
    const flight: Flight = { plan, outcome: this.backend.run(plan), isOver: false };
    const over = (): void => void (flight.isOver = true);
    // Also of one that nobody waits for any more, because the one before it found the backend dead.
    flight.outcome.then(over, over);
    if (this.#flights.push(flight) === 1) this.#beganMs = this.nowMs();
  }

  /** Resolves when it is late in the step that runs: true, and time to send the next one; or when it is over already. */
  async untilLate(): Promise<boolean> {
    const flight = this.#older();
    const lateMs = this.#beganMs + this.#pace.planAfterMs(flight.plan) - this.nowMs();
    if (lateMs >= 1) await over(flight, lateMs);
    return !flight.isOver;
  }

  /** What came of the older one; the other one runs now. @throws Error when the backend is gone; then both are still here. */
  async landed(): Promise<{ readonly plan: Plan; readonly outcome: TextOutcome }> {
    const { plan, outcome } = this.#older();
    const learnt = await outcome;
    this.#flights.shift();
    const nowMs = this.nowMs();
    this.#pace.observe(plan, nowMs - this.#beganMs);
    this.#beganMs = nowMs;
    return { plan, outcome: learnt };
  }

  /** The backend is gone. */
  forget(): void {
    this.#flights = [];
  }

  #older(): Flight {
    const [flight] = this.#flights;
    if (flight === undefined) throw new Error('No step runs.');
    return flight;
  }
}

/** Resolves when the step is over, at the latest after so long. */
async function over({ outcome }: Flight, mostMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>(resolve => (timer = setTimeout(resolve, mostMs)));
  await Promise.race([outcome, late]).catch(() => undefined);
  clearTimeout(timer);
}

import { Logger } from '@nestjs/common';
import {
  type GenerationPlan,
  type ItemResult,
  itemsOf,
  type StepOutcome,
} from '@switchyard/engine-api/generation-plan.js';
import {
  type SequenceCancelReason,
  type GenerationEnd,
  type SubmitRefusal,
} from '@switchyard/engine-api/generation-request.js';
import {
  type Drawn,
  type TextBackend,
  type TextOutcome,
  type TextSequence,
} from '@switchyard/engine-api/text-backend.port.js';
import { type GenerationActivity } from '@switchyard/worker-protocol/health.codec.js';
import { GenerationScheduler } from '../../core/iteration/generation-scheduler.js';
import { type InFlightStep } from '../../core/iteration/generation-steps.js';
import { type GenerationOptions } from '../../core/iteration/running-set.js';
import { blended } from '../../core/latency/means.js';
import { type LiveSequence, sequenceEvents } from './sequence-events.js';

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
    /** What a step took. */
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
async function over({ outcome }: Sent, mostMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>(resolve => (timer = setTimeout(resolve, mostMs)));
  await Promise.race([outcome, late]).catch(() => undefined);
  clearTimeout(timer);
}

type SchedulingOptions = Omit<GenerationOptions<LiveSequence>, 'memory' | 'emitted' | 'ended'>;

/**
 * Sends the scheduler's plans to the backend, the next one while one runs wherever it can
 * be planned ahead. Events of a step are emitted while the next one runs, so that the
 * device does not wait while answers are written. `submit`, `cancel` and `resume` wake
 * the loop immediately; otherwise it wakes when the scheduler asks for it.
 */
export class StepLoop {
  readonly #logger = new Logger(StepLoop.name);
  readonly #scheduler: GenerationScheduler<LiveSequence>;
  readonly #begun = new WeakSet<LiveSequence>();
  readonly #live = new Set<LiveSequence>();
  readonly #pipeline: StepPipeline;
  readonly #events = sequenceEvents();
  #wake: () => void = () => undefined;
  /** Why the backend cannot be opened: all sequences end with it. */
  #outage: Error | undefined;
  #running: Promise<void> | undefined;
  /** A loss found outside of a step, resolved by `repaired`. */
  #found: (PromiseWithResolvers<void> & { readonly error: Error }) | undefined;
  #stopped = false;
  #counts = { steps: 0, preemptions: 0, prefixHitTokens: 0, losses: 0 };

  /**
   * @param scheduling what is not said follows from the backend
   * @param nowMs monotonic milliseconds
   */
  constructor(
    private readonly backend: TextBackend,
    scheduling: Partial<SchedulingOptions> = {},
    private readonly nowMs: () => number,
  ) {
    this.#scheduler = new GenerationScheduler<LiveSequence>({
      ...schedulingOf(backend),
      ...scheduling,
      memory: backend.memory,
      emitted: sequence => this.#events.emit({ sequence }),
      ended: (sequence, end) => this.#ended(sequence, end),
    });
    this.#pipeline = new StepPipeline(backend, nowMs);
  }

  /** Numbers for the worker's Health. */
  get activity(): GenerationActivity {
    const { running, waiting, stepTokens, strandedTokens } = this.#scheduler;
    const { decodeCalls, memory } = this.backend;
    return {
      running,
      waiting,
      stepTokens,
      decodeCalls,
      strandedTokens,
      freeBlocks: memory.available,
      blocks: memory.blocks,
      ...this.#counts,
    };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends with the step that runs. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#running;
    this.#settle(new Error('The engine is being closed.'));
  }

  /** Joins with the next step, or is refused for good. */
  submit(sequence: LiveSequence): SubmitRefusal | undefined {
    const refusal = this.#scheduler.submit(sequence);
    if (refusal) return refusal;
    this.#live.add(sequence);
    this.#wake();
    return undefined;
  }

  /** Ends now, or with the step that runs. */
  cancel(sequence: LiveSequence, reason: SequenceCancelReason): void {
    this.#scheduler.cancel(sequence, reason);
    if (this.#scheduler.computesForNobody) this.backend.stop?.();
    this.#wake();
  }

  pause(sequence: LiveSequence): void {
    this.#scheduler.pause(sequence, this.nowMs());
  }

  resume(sequence: LiveSequence): void {
    this.#scheduler.resume(sequence);
    this.#wake();
  }

  /**
   * For a caller that found the backend dead between two steps: resolves when it
   * is open again.
   * @throws Error when it cannot be
   */
  repaired(error: Error): Promise<void> {
    this.#found ??= { error, ...Promise.withResolvers<void>() };
    this.#wake();
    return this.#found.promise;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      if (this.#found) await this.#recover(this.#found.error);
      const nowMs = this.nowMs();
      if (!this.#scheduler.runningStep) this.#send(this.#scheduler.plan(nowMs));
      if (this.#scheduler.runningStep) await this.#advance();
      else if (this.#events.waiting > 0) this.#events.flush();
      else await this.#sleep(this.#scheduler.nextWakeMs(nowMs) - nowMs);
    }
    while (this.#scheduler.runningStep) await this.#complete();
    this.#events.flush();
  }

  #send(plan: GenerationPlan<LiveSequence> | undefined): void {
    if (plan === undefined) return;
    for (const sequence of plan.leave) if (this.#live.has(sequence)) this.#counts.preemptions += 1;
    for (const { request, position } of itemsOf(plan)) {
      if (this.#begun.has(request)) continue;
      this.#begun.add(request);
      this.#counts.prefixHitTokens += position;
      request.begun(position);
    }
    this.#pipeline.send(plan);
  }

  /**
   * While a step runs: emits what the one before it drew, and sends the next one late, so
   * that requests until then are in it.
   */
  async #advance(): Promise<void> {
    this.#events.flush();
    const step = this.#scheduler.runningStep;
    if (step && (await this.#pipeline.untilLate(step)) && !this.#stopped)
      this.#send(this.#scheduler.planAhead(this.nowMs()));
    await this.#complete();
  }

  async #complete(): Promise<void> {
    const step = this.#scheduler.runningStep;
    if (step === undefined) return;
    try {
      const outcome = await this.#pipeline.outcome(step);
      if (outcome.type !== 'skipped' && itemsOf(step.plan).length > 0) this.#counts.steps += 1;
      this.#events.hold(() => this.#scheduler.complete(this.#read(outcome), this.nowMs()));
    } catch (error) {
      await this.#recover(error as Error);
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /**
   * The text of a drawn token decides whether its sequence continues. Sequences that
   * ended with the step before read nothing.
   */
  #read(outcome: TextOutcome): StepOutcome<LiveSequence> {
    if (outcome.type !== 'done') return outcome;
    const results = new Map<LiveSequence, ItemResult>();
    for (const sequence of this.#live) {
      const result = outcome.results.get(sequence);
      if (result) results.set(sequence, readOne(sequence, result, outcome.drawn));
    }
    return { type: 'done', results };
  }

  /** All sequences wait until the backend is open again, and continue where they were. */
  async #recover(error: Error): Promise<void> {
    this.#logger.warn(
      { err: error, running: this.#scheduler.running },
      'the backend is gone; reopening it',
    );
    this.#counts.losses += 1;
    this.#scheduler.lost(error);
    for (let open = false; !open && !this.#stopped;) open = await this.#reopen();
    this.#settle(this.#stopped ? error : undefined);
  }

  #settle(failure?: Error): void {
    const found = this.#found;
    this.#found = undefined;
    if (failure) found?.reject(failure);
    else found?.resolve();
  }

  async #reopen(): Promise<boolean> {
    try {
      await this.backend.reopen();
      return true;
    } catch (error) {
      this.#logger.error({ err: error as Error }, 'the backend cannot be opened');
      this.#outage = error as Error;
      for (const sequence of this.#live) this.#scheduler.cancel(sequence);
      this.#outage = undefined;
      this.#settle(error as Error);
      return false;
    }
  }

  #ended(sequence: LiveSequence, end: GenerationEnd): void {
    this.#live.delete(sequence);
    this.#events.emit({
      sequence,
      end: this.#outage ? { type: 'failed', error: this.#outage } : end,
    });
  }
}

function readOne(
  sequence: LiveSequence,
  result: ItemResult,
  drawn: ReadonlyMap<TextSequence, Drawn>,
): ItemResult {
  if (result.type !== 'token') return result;
  const text = drawn.get(sequence);
  if (text === undefined)
    return { type: 'failed', error: new Error('A token came without its text.') };
  return { ...result, stop: sequence.read(result.token, text) };
}

/** What follows from the backend. */
function schedulingOf({ info, memory, stepTargetMs = 50 }: TextBackend): SchedulingOptions {
  const { rows, stepTokens, contextTokens } = info;
  return {
    maxRows: rows,
    maxContext: contextTokens,
    headroomTokens: memory.blockTokens,
    classWidthMs: 30_000,
    maxPreemptions: 2,
    maxOvertakes: 8,
    backoffMs: 50,
    pauseGraceMs: 2000,
    budget: { minTokens: rows, maxTokens: stepTokens, targetMs: stepTargetMs },
    outputWeight: 2,
    idleWaitMs: 50,
    loadWaitMs: 5,
  };
}

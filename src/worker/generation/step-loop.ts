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
import { type GenerationOptions } from '../../core/iteration/running-set.js';
import { type LiveSequence, sequenceEvents } from './sequence-events.js';
import { StepPipeline } from './step-pipeline.js';

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
  /** Why the backend cannot be opened; all sequences end with this error. */
  #outage: Error | undefined;
  #running: Promise<void> | undefined;
  /** A loss that was noticed between steps; `repaired` resolves it. */
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

/** Options that follow from the backend. */
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

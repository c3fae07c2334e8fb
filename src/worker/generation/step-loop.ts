import { Logger } from '@nestjs/common';
import {
  type GenerationPlan,
  type ItemResult,
  itemsOf,
  type StepOutcome,
} from '../../core/iteration/generation-plan.js';
import { type CancelReason, type GenerationEnd, type Refusal } from '../../core/iteration/generation-request.js';
import { type GenerationOptions, GenerationScheduler } from '../../core/iteration/generation-scheduler.js';
import { type GenerationActivity } from '../engines/generation-activity.js';
import { StepPipeline } from './step-pipeline.js';
import { type LiveSequence } from './live-sequence.js';
import { StepNews } from './step-news.js';
import { type Drawn, type TextBackend, type TextOutcome, type TextSequence } from './text-backend.port.js';

export type SchedulingOptions = Omit<GenerationOptions<LiveSequence>, 'memory' | 'emitted' | 'ended'>;

/**
 * Decide, act, learn, for ever: plans of the scheduler go to the backend, the next one while one runs wherever that can be planned,
 * and what a step drew goes to the sequences while the next one runs, so that a device does not wait while answers are written.
 * Whoever submits, cancels or resumes wakes it at once; else it looks again when the scheduler says so.
 */
export class StepLoop {
  readonly #logger = new Logger(StepLoop.name);
  readonly #scheduler: GenerationScheduler<LiveSequence>;
  readonly #begun = new WeakSet<LiveSequence>();
  readonly #live = new Set<LiveSequence>();
  readonly #flying: StepPipeline;
  readonly #news = new StepNews();
  #wake: () => void = () => undefined;
  /** While the backend cannot be opened, all who are here end with this. */
  #outage: Error | undefined;
  #running: Promise<void> | undefined;
  /** Told by `repaired`, which waits. */
  #found: { readonly error: Error; readonly waiting: ((failure?: Error) => void)[] } | undefined;
  #stopped = false;
  #counts = { steps: 0, preemptions: 0, prefixHitTokens: 0, losses: 0 };

  constructor(
    private readonly backend: TextBackend,
    scheduling: SchedulingOptions,
    /** Monotonic milliseconds. */
    private readonly nowMs: () => number,
  ) {
    this.#scheduler = new GenerationScheduler<LiveSequence>({
      ...scheduling,
      memory: backend.memory,
      emitted: sequence => this.#news.hear({ sequence }),
      ended: (sequence, end) => this.#ended(sequence, end),
    });
    this.#flying = new StepPipeline(backend, nowMs);
  }

  /** Numbers for the worker's Health. */
  get activity(): GenerationActivity {
    const { running, waiting, freeBlocks, stepTokens } = this.#scheduler;
    const { blocks } = this.backend.memory;
    const { decodeCalls, strandedTokens } = this.backend;
    return { ...{ running, waiting, freeBlocks, blocks, stepTokens, decodeCalls, strandedTokens }, ...this.#counts };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends with the step that runs. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake();
    await this.#running;
    this.#tell(new Error('The engine is being closed.'));
  }

  /** Joins with the next step, or is refused for good. */
  submit(sequence: LiveSequence): Refusal | undefined {
    const refusal = this.#scheduler.submit(sequence);
    if (refusal) return refusal;
    this.#live.add(sequence);
    this.#wake();
    return undefined;
  }

  /** Ends now, or with the step that runs. */
  cancel(sequence: LiveSequence, reason: CancelReason): void {
    this.#scheduler.cancel(sequence, reason);
    this.#wake();
  }

  pause(sequence: LiveSequence): void {
    this.#scheduler.pause(sequence, this.nowMs());
  }

  resume(sequence: LiveSequence): void {
    this.#scheduler.resume(sequence);
    this.#wake();
  }

  /** For who found the backend dead between two steps: resolves when it is open again. @throws Error when it cannot be. */
  repaired(error: Error): Promise<void> {
    this.#found ??= { error, waiting: [] };
    const { waiting } = this.#found;
    this.#wake();
    return new Promise((resolve, reject) =>
      waiting.push(failure => {
        if (failure) reject(failure);
        else resolve();
      }),
    );
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      if (this.#found) await this.#recover(this.#found.error);
      const nowMs = this.nowMs();
      if (this.#flying.size === 0) this.#send(this.#scheduler.plan(nowMs));
      if (this.#flying.size > 0) await this.#accompany();
      else if (this.#news.waiting > 0) this.#news.spread();
      else await this.#sleep(this.#scheduler.nextWakeMs(nowMs) - nowMs);
    }
    while (this.#flying.size > 0) await this.#land();
    this.#news.spread();
  }

  #send(plan: GenerationPlan<LiveSequence> | undefined): void {
    if (plan === undefined) return;
    this.#announce(plan);
    this.#flying.send(plan);
  }

  /** While a step runs: what the one before it drew is told, and, late, so that who comes by then is in it, the next one is sent. */
  async #accompany(): Promise<void> {
    this.#news.spread();
    if ((await this.#flying.untilLate()) && !this.#stopped) this.#send(this.#scheduler.planAhead(this.nowMs()));
    await this.#land();
  }

  async #land(): Promise<void> {
    try {
      const { plan, outcome } = await this.#flying.landed();
      if (outcome.type !== 'skipped' && itemsOf(plan).length > 0) this.#counts.steps += 1;
      this.#news.hold(() => this.#scheduler.complete(this.#read(outcome), this.nowMs()));
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

  #announce(plan: GenerationPlan<LiveSequence>): void {
    for (const sequence of plan.leave) if (this.#live.has(sequence)) this.#counts.preemptions += 1;
    for (const { request, position } of itemsOf(plan)) {
      if (this.#begun.has(request)) continue;
      this.#begun.add(request);
      this.#counts.prefixHitTokens += position;
      request.begun(position);
    }
  }

  /** The text of what was drawn decides whether a sequence goes on. Some may have ended with the step before: nothing is read. */
  #read(outcome: TextOutcome): StepOutcome<LiveSequence> {
    if (outcome.type !== 'done') return outcome;
    const results = new Map<LiveSequence, ItemResult>();
    for (const sequence of this.#live) {
      const result = outcome.results.get(sequence);
      if (result) results.set(sequence, readOne(sequence, result, outcome.drawn));
    }
    return { type: 'done', results };
  }

  /** Those who are here wait until the backend is back, and go on where they were. */
  async #recover(error: Error): Promise<void> {
    this.#logger.warn({ err: error, running: this.#scheduler.running }, 'the backend is gone: opening it again');
    this.#counts.losses += 1;
    this.#flying.forget();
    this.#scheduler.lost(error);
    for (let open = false; !open && !this.#stopped;) open = await this.#reopen();
    this.#tell(this.#stopped ? error : undefined);
  }

  #tell(failure?: Error): void {
    const waiting = this.#found?.waiting ?? [];
    this.#found = undefined;
    for (const heard of waiting) heard(failure);
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
      this.#tell(error as Error);
      return false;
    }
  }

  #ended(sequence: LiveSequence, end: GenerationEnd): void {
    this.#live.delete(sequence);
    this.#news.hear({ sequence, end: this.#outage ? { type: 'failed', error: this.#outage } : end });
  }
}

function readOne(sequence: LiveSequence, result: ItemResult, drawn: ReadonlyMap<TextSequence, Drawn>): ItemResult {
  if (result.type !== 'token') return result;
  const said = drawn.get(sequence);
  if (said === undefined) return { type: 'failed', error: new Error('A token came without its text.') };
  return { ...result, stop: sequence.read(said) };
}

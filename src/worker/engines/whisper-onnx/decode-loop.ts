import { setImmediate as nextTurn } from 'node:timers/promises';
import { IterationScheduler, type SequenceEnd, type StepPlan } from '../../../core/iteration/iteration-scheduler.js';
import { type JobRules, JobRun } from './transcription-job.js';
import { type JobOutcome, type SegmentNotice, type WhisperJob } from './protocol.js';
import { type Results, type WindowSteps } from './window-steps.js';
import { WindowTask } from './window-task.js';

/**
 * Steps that a window may stand still in all, for others to catch up: about a quarter of the tokens of a usual window.
 */
const PATIENCE = 24;

/**
 * The one loop of a model's thread: windows of all jobs, of all groups that run, step by step through the same
 * sessions. Windows join and leave between steps; a cancel is seen before every step.
 */
export class DecodeLoop {
  readonly #scheduler: IterationScheduler<WindowTask>;
  /** The present window of every running job. */
  readonly #tasks = new Map<WindowTask, (outcome: JobOutcome) => void>();
  #looping = false;

  constructor(
    private readonly steps: WindowSteps,
    private readonly rules: JobRules,
    maxRows: number,
  ) {
    this.#scheduler = new IterationScheduler<WindowTask>({
      ...{ maxRows, classWidthMs: 0, maxHoldSteps: PATIENCE },
      ended: (task, end) => this.#ended(task, end),
    });
  }

  /** One group; answers when all its members have ended. */
  run(jobs: readonly WhisperJob[], notify: (notice: SegmentNotice) => void): Promise<JobOutcome[]> {
    const arrivalMs = performance.now();
    const outcomes = jobs.map((request, job) => {
      const run = new JobRun(request, arrivalMs, this.rules, (segment, words) => notify({ job, segment, words }));
      return new Promise<JobOutcome>(settle => this.#continue(run, settle));
    });
    void this.#loop();
    return Promise.all(outcomes);
  }

  /** The job's next window, or its end. */
  #continue(job: JobRun, settle: (outcome: JobOutcome) => void): void {
    if (job.cancel.raised) return settle({ type: 'cancelled' });
    if (job.done) return settle({ type: 'done', transcript: job.transcript() });
    const task = new WindowTask(job, job.seek, this.rules.vocabulary, this.rules.positions);
    this.#tasks.set(task, settle);
    this.#scheduler.submit(task);
  }

  async #loop(): Promise<void> {
    if (this.#looping) return;
    this.#looping = true;
    for (let plan = this.#plan(); plan !== undefined; plan = this.#plan()) {
      await this.#step(plan);
      // Messages are heard here: new groups, and the close.
      await nextTurn();
    }
    this.#looping = false;
  }

  #plan(): StepPlan<WindowTask> | undefined {
    for (const task of [...this.#tasks.keys()]) if (task.job.cancel.raised) this.#scheduler.cancel(task);
    return this.#scheduler.plan();
  }

  async #step(plan: StepPlan<WindowTask>): Promise<void> {
    const results: Results = new Map();
    plan.leave.forEach(task => this.steps.forget(task));
    for (const { position, members } of plan.decode) {
      await this.#guarded(members, results, some => this.steps.decode({ position, members: some }, results));
    }
    if (plan.prefill.length > 0) {
      await this.#guarded(plan.prefill, results, some => this.steps.prefill(some, results));
    }
    const finished = [...results].filter(([, { type }]) => type === 'finished').map(([task]) => task);
    const spoken = finished.filter(({ job, result }) => job.request.wordTimestamps && result.text.trim() !== '');
    if (spoken.length > 0) await this.#guarded(spoken, results, some => this.steps.align(some));
    this.#scheduler.complete(results);
  }

  /** A run that fails for many is tried for each alone: one poisonous row does not take its neighbours along (D-05). */
  async #guarded(
    members: readonly WindowTask[],
    results: Results,
    run: (some: readonly WindowTask[]) => Promise<void>,
  ): Promise<void> {
    try {
      await run(members);
    } catch (error) {
      if (members.length > 1) {
        for (const member of members) await this.#guarded([member], results, run);
        return;
      }
      results.set(members[0]!, { type: 'failed', error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  #ended(task: WindowTask, end: SequenceEnd): void {
    const settle = this.#tasks.get(task);
    if (settle === undefined) return;
    this.#tasks.delete(task);
    if (end.type === 'cancelled') return settle({ type: 'cancelled' });
    if (end.type === 'failed') return settle({ type: 'failed', message: end.error.message });
    try {
      task.job.accept(task.result, task.words);
      this.#continue(task.job, settle);
    } catch (error) {
      settle({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
  }
}

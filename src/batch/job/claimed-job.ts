import { type JobProblem } from '../../core/jobs/batch-job.js';
import { type Plan } from '../../core/jobs/plan-entry.js';
import { type JobLease } from '../lease/job-lease.js';
import { type JobStop } from '../lease/job-stop.js';
import { type JobFolder } from './job-folder.js';
import { type ResultLog } from './result-log.js';

/** All lines of a job by plan index: model by model, then the invalid ones. */
export interface JobPlan {
  readonly total: number;
  /** The lines of one model: plan indices `first` to `first + plan.length - 1`. */
  readonly models: readonly {
    readonly model: string;
    readonly first: number;
    readonly plan: Plan;
  }[];
  /** Plan index of the first invalid line. */
  readonly firstRejected: number;
}

/** One claimed job and its local state. */
export interface ClaimedJob {
  readonly lease: JobLease;
  readonly folder: JobFolder;
  /** Stop signal of the attempt that runs; each attempt at the job has a new one. */
  stop: JobStop;
  /** Suffix of draft files: unique per claim. */
  readonly writer: string;
  /** Set while lines are sent. */
  running?: {
    readonly log: ResultLog;
    readonly startedMs: number;
    readonly doneAtStart: number;
  };
  /**
   * Ids of its result files. Chosen once per claim, and again when they are old: garbage
   * collection may remove bytes under an old id.
   */
  resultIds?: { readonly output: string; readonly error: string };
  /** Why the job must end as failed. */
  problems?: readonly JobProblem[];
}

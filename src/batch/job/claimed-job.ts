import { type JobProblem } from '../../core/jobs/batch-job.js';
import { type JobStop } from '../lease/job-lease.js';
import { type ResultLog } from './result-log.js';
import { type JobFolder } from './job-folder.js';
import { type JobLease } from '../lease/job-lease.js';

/** One claimed job and its local state. */
export interface ClaimedJob {
  readonly lease: JobLease;
  readonly folder: JobFolder;
  /** Another one for each attempt at the job. */
  stop: JobStop;
  /** Suffix of draft files: unique per claim. */
  readonly writer: string;
  /** Set while lines are sent. */
  running?: {
    readonly log: ResultLog;
    readonly startedMs: number;
    readonly doneAtStart: number;
  };
  /** Why the job must end as failed. */
  problems?: readonly JobProblem[];
  /** The error behind the stop reason `trouble`. */
  trouble?: Error;
}

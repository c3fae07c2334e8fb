import { type JobProblem } from '../../core/jobs/batch-job.js';
import { type JobStop } from '../lease/job-stop.js';
import { type ResultLog } from './result-log.js';
import { type JobFolder } from './job-folder.js';
import { type JobLease } from '../lease/job-lease.js';

/** One job in the hands of this processor. */
export interface JobWork {
  readonly lease: JobLease;
  readonly folder: JobFolder;
  readonly stop: JobStop;
  /** Names drafts: unique per claim. */
  readonly writer: string;
  /** While lines are sent. */
  running?: { readonly log: ResultLog; readonly startedMs: number; readonly doneAtStart: number };
  /** Why the job is to end as failed. */
  problems?: readonly JobProblem[];
  /** What stopped it with the reason `trouble`. */
  trouble?: Error;
}

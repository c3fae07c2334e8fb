import { type JobCallback } from '../../../contracts/queue-jobs/queue-job.js';
import { type LoadedResult } from '../../../contracts/queue-jobs/job-result.js';

/** BullMQ queue of callbacks; no model's queue can have this name. */
export const CALLBACK_QUEUE = 'callbacks';

/** One callback on its way. */
export interface CallbackNote extends JobCallback {
  /** BullMQ queue and job whose result it tells. */
  readonly queue: string;
  readonly jobId: string;
  readonly requestId: string;
  /** What is sent, once the result was there: later attempts say the same when the result has expired. */
  readonly body?: string;
}

/** One per job, and the `webhook-id` by which a receiver knows repeats. */
export const callbackId = ({ queue, jobId }: Pick<CallbackNote, 'queue' | 'jobId'>): string => `${queue}.${jobId}`;

/** What a job ended with: a worker's result, or BullMQ's own reason. */
export type JobEnd = { readonly result: LoadedResult } | { readonly failedReason: string };

/** As OpenAI's webhook events. @param finishedMs epoch */
export function callbackBody(note: CallbackNote, end: JobEnd, finishedMs: number): string {
  const outcome = 'result' in end ? end.result.outcome : 'failed';
  return JSON.stringify({
    id: callbackId(note),
    object: 'event',
    type: `request.${outcome}`,
    created_at: Math.floor(finishedMs / 1000),
    data: { id: note.requestId, queue: note.queue, job_id: note.jobId, ...contentOf(end) },
  });
}

function contentOf(end: JobEnd): object {
  if ('failedReason' in end) return { error: { code: 'worker_lost', message: end.failedReason } };
  const { result } = end;
  if (result.outcome === 'completed') return { value: result.value, execution: result.execution };
  return result.outcome === 'failed' ? { error: result.error } : {};
}

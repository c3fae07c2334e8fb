import { RequestPriority } from '@switchyard/engine-api/request-priority.js';

export { RequestPriority };

export const PRIORITY_LEVELS = [RequestPriority.REALTIME, RequestPriority.BATCH] as const;

export const perPriority = <T>(
  make: (priority: RequestPriority) => T,
): Readonly<Record<RequestPriority, T>> => ({
  [RequestPriority.REALTIME]: make(RequestPriority.REALTIME),
  [RequestPriority.BATCH]: make(RequestPriority.BATCH),
});

export const PRIORITY_LABELS = ['realtime', 'batch'] as const;

export type PriorityLabel = (typeof PRIORITY_LABELS)[number];

/** Label value used in metrics, logs and JSON. */
export function priorityLabel(priority: RequestPriority): PriorityLabel {
  return priority === RequestPriority.REALTIME ? 'realtime' : 'batch';
}

export const priorityLevel = (label: PriorityLabel): RequestPriority =>
  label === 'realtime' ? RequestPriority.REALTIME : RequestPriority.BATCH;

/** OpenAI's statuses of a batch. */
export const BATCH_STATUSES = [
  'validating',
  'in_progress',
  'finalizing',
  'cancelling',
  'completed',
  'failed',
  'expired',
  'cancelled',
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/**
 * Legal moves; `cancelling` and `finalizing` may be taken over by
 * another processor (D-14).
 */
const NEXT: Readonly<Record<BatchStatus, readonly BatchStatus[]>> = {
  validating: ['in_progress', 'cancelling', 'failed', 'expired'],
  in_progress: ['finalizing', 'cancelling', 'failed', 'expired'],
  finalizing: ['completed', 'cancelling', 'failed'],
  cancelling: ['cancelled', 'failed'],
  completed: [],
  failed: [],
  expired: [],
  cancelled: [],
};

export const isTerminal = (status: BatchStatus): boolean => NEXT[status].length === 0;

/** A batch in one of these still needs its input file, and a processor. */
export const UNFINISHED_STATUSES = BATCH_STATUSES.filter(status => !isTerminal(status));

export const mayBecome = (from: BatchStatus, to: BatchStatus): boolean => NEXT[from].includes(to);

/**
 * Statuses in which a user may still ask to cancel: later there is nothing left to save.
 */
export const isCancellable = (status: BatchStatus): boolean => mayBecome(status, 'cancelling');

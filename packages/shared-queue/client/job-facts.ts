/** What BullMQ knows of a job besides its data. */
export interface JobFacts {
  readonly priority: number;
  /** Epoch milliseconds of Redis. */
  readonly timestamp: number;
  /** Name of the worker that took it last. */
  readonly workerId?: string;
  /** Whether a worker has it now. */
  readonly taken: boolean;
  /** Epoch milliseconds of Redis at which a worker took it last. */
  readonly takenMs?: number;
  /** Workers that had it. */
  readonly attempts: number;
  readonly finished: boolean;
  /** What the worker completed it with, as JSON. */
  readonly returnValue?: string;
  /** BullMQ failed it: its workers died too often. */
  readonly failedReason?: string;
}

/** The fields of BullMQ's hash of a job that `factsOf` reads. */
export const FACTS = [
  'priority',
  'timestamp',
  'pb',
  'released',
  'processedOn',
  'finishedOn',
  'returnvalue',
  'failedReason',
  'ats',
];

/** @param lockLeftMs of its lock, as `PTTL` says it. Undefined: there is no such job */
export function factsOf(
  values: readonly (string | null)[],
  lockLeftMs: number,
): JobFacts | undefined {
  const [
    priority = 0,
    timestamp,
    workerId,
    released,
    processedOn,
    finishedOn,
    returnValue,
    failedReason,
    attempts = 0,
  ] = values.map(value => value ?? undefined);
  if (timestamp === undefined) return undefined;
  // Of a worker that took it without a release: by that worker's clock.
  const taken = processedOn && (released ?? processedOn);
  return {
    priority: Number(priority),
    timestamp: Number(timestamp),
    taken: lockLeftMs > 0 && finishedOn === undefined,
    attempts: Number(attempts),
    finished: finishedOn !== undefined,
    workerId,
    takenMs: taken === undefined ? undefined : Number(taken),
    returnValue,
    failedReason,
  };
}

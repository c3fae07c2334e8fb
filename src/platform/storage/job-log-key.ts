/** Before every key of a copied result log, and of nothing else. */
export const JOB_LOG_BLOBS = 'jobs/';

/** Where the copies of a batch's result log lie, for processors that share no disk. */
export const jobLogFolder = (jobId: string): string => `${JOB_LOG_BLOBS}${jobId}/log/`;

/** The batch whose log a key belongs to. */
export const jobOfLogKey = (key: string): string => key.slice(JOB_LOG_BLOBS.length).split('/', 1)[0]!;

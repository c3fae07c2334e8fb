import { jest } from '@jest/globals';
import { type ClaimedJob } from '../../src/batch/job/claimed-job.js';
import { type JobTraces } from '../../src/batch/observe/job-traces.js';
import { type JobMetrics } from '../../src/batch/observe/job.metrics.js';
import { type BatchRunner, type Ending } from '../../src/batch/runner/batch-runner.js';
import { JobSupervisor } from '../../src/batch/runner/job-supervisor.js';
import { type BatchJob } from '../../src/core/jobs/batch-job.js';
import { type JobChange } from '../../src/core/jobs/job.ports.js';
import { settingsFrom } from '../../src/platform/config/settings.js';
import { type JobClaims } from '../../src/platform/database/job-claims.js';
import { temporaryFolder } from './temporary-folder.js';

export const LEASE_MS = 9000;
export const WINDOW_MS = 100_000;
export const FINALIZE_MS = 50_000;

export type JobRun = (work: ClaimedJob) => Promise<Ending>;

/** A supervisor whose batches run as the test says; attempt by attempt, the last one again. */
export function jobSupervisor(...runs: JobRun[]) {
  const events: string[] = [];
  const times: number[] = [];
  const startMs = Date.now();
  const changes: JobChange[] = [];
  const works: ClaimedJob[] = [];
  let beats = 0;
  const store = {
    claim: (owner: string, leaseMs: number) => Promise.resolve({ owner, leaseMs }),
    heartbeat: jest.fn<(id: string) => Promise<BatchJob | undefined>>(id => {
      beats += 1;
      return Promise.resolve(works.find(({ lease }) => lease.job.id === id)?.lease.job);
    }),
    update: (_id: string, _epoch: number, change: JobChange) => {
      changes.push(change);
      return Promise.resolve('written');
    },
    release: jest.fn(() => Promise.resolve(void events.push('released'))),
  };
  const runner = {
    run: (work: ClaimedJob) => {
      if (!works.includes(work)) works.push(work);
      times.push(Date.now() - startMs);
      return runs[Math.min(times.length, runs.length) - 1]!(work);
    },
    endOverdue: jest.fn(() => Promise.resolve<Ending>('failed')),
  };
  const metrics = {
    claimed: () => events.push('claimed'),
    ended: (_job: BatchJob, ending: string, seconds: number) =>
      events.push(`${ending} after ${Math.round(seconds)} s`),
    handedOver: (reason: string) => events.push(`handed over: ${reason}`),
  };
  const traces = {
    job: async (_job: BatchJob, work: () => Promise<Ending>, ended: () => BatchJob | undefined) => {
      const ending = await work();
      events.push(`traced ${ended()?.id ?? 'no end'}`);
      return ending;
    },
    trouble: (error: Error) => events.push(`trouble: ${error.message}`),
  };
  const folder = temporaryFolder();
  const supervised = new JobSupervisor(
    settingsFrom({
      ...{ 'batch.lease_ms': LEASE_MS, 'batch.finalize_timeout_ms': FINALIZE_MS },
      'data.dir': folder,
    }),
    store as unknown as JobClaims,
    runner as unknown as BatchRunner,
    metrics as unknown as JobMetrics,
    traces as unknown as JobTraces,
  );
  const supervise = (id = 'batch_1', tenant = 't', windowMs = WINDOW_MS) => {
    const job = { id, tenant, status: 'in_progress', reachedAtMs: {} } as unknown as BatchJob;
    const leased = { job: { ...job, expiresAtMs: Date.now() + windowMs }, epoch: 7 };
    return supervised.supervise(leased);
  };
  return {
    ...{ supervised, supervise, events, times, changes, works, store, runner, folder },
    beats: () => beats,
  };
}

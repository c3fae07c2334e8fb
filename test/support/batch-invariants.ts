import { expect } from '@jest/globals';
import { type BatchJob } from '../../src/core/jobs/batch-job.js';
import { type BatchHarness } from './batch-harness.js';

export interface OutputLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly request_id: string;
    readonly body: unknown;
  } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface BatchResults {
  readonly job: BatchJob;
  readonly output: readonly OutputLine[];
  readonly errors: readonly OutputLine[];
}

/**
 * What holds after every ending: completed + failed = total = lines of the input; each
 * `custom_id` once in exactly one of the files; as many lines in the files as the counts
 * say; instants in order; no unfinished business.
 * @param customIds of the input, in any order
 */
export async function expectWholeBatch(
  harness: BatchHarness,
  id: string,
  customIds: readonly string[],
): Promise<BatchResults> {
  const job = await harness.job(id);
  const read = async (fileId?: string): Promise<OutputLine[]> =>
    (await harness.lines(fileId)).map(line => JSON.parse(line) as OutputLine);
  const [output, errors] = [await read(job.outputFileId), await read(job.errorFileId)];
  const { counts } = job;
  expect(counts).toEqual({
    total: customIds.length,
    completed: output.length,
    failed: errors.length,
  });
  expect(counts.completed + counts.failed).toBe(counts.total);
  expect([...output, ...errors].map(line => line.custom_id).sort()).toEqual([...customIds].sort());
  expect(new Set([...output, ...errors].map(line => line.id)).size).toBe(customIds.length);
  expect(job.outputFileId !== undefined).toBe(counts.completed > 0);
  expect(job.errorFileId !== undefined).toBe(counts.failed > 0);
  expectOrderedInstants(job);
  return { job, output, errors };
}

function expectOrderedInstants({ createdAtMs, expiresAtMs, reachedAtMs, status }: BatchJob): void {
  const order = [
    'in_progress',
    'finalizing',
    'cancelling',
    'completed',
    'failed',
    'expired',
    'cancelled',
  ] as const;
  const instants = order.flatMap(name => reachedAtMs[name] ?? []);
  expect([createdAtMs, ...instants]).toEqual([createdAtMs, ...instants].sort((a, b) => a - b));
  expect(expiresAtMs).toBeGreaterThan(createdAtMs);
  if (status !== 'validating') expect(reachedAtMs[status]).toBeGreaterThanOrEqual(createdAtMs);
}

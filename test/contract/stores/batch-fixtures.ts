import { type BatchJob } from '../../../src/core/jobs/batch-job.js';
import { type StoredFile } from '../../../src/core/jobs/job.ports.js';
import { timeOrderedId } from '../../../src/platform/clock/time-ordered-id.js';

export const NOW_MS = 1_800_000_000_000;
export const TENANT = 'tenant-a';

export const batchJob = (change: Partial<BatchJob> = {}): BatchJob => ({
  id: timeOrderedId('batch_', NOW_MS),
  tenant: TENANT,
  endpoint: '/v1/chat/completions',
  inputFileId: 'file-input',
  completionWindow: '24h',
  status: 'validating',
  createdAtMs: NOW_MS,
  expiresAtMs: NOW_MS + 86_400_000,
  reachedAtMs: {},
  counts: { total: 0, completed: 0, failed: 0 },
  problems: [],
  metadata: {},
  ...change,
});

export const storedFile = (change: Partial<StoredFile> = {}): StoredFile => {
  const id = timeOrderedId('file-', NOW_MS);
  return {
    id,
    tenant: TENANT,
    purpose: 'batch',
    filename: 'naïve "input".jsonl',
    bytes: 3_000_000_000,
    createdAtMs: NOW_MS,
    blobKey: `files/${id}`,
    sha256: 'ab'.repeat(32),
    ...change,
  };
};

import { type FilePurpose } from '../../../core/jobs/job.ports.js';
import { type Settings } from '../../../platform/config/settings.js';
import { type FileLimits } from './measured-bytes.js';

/** COMPAT "Files": input files of batches go after 30 days. */
const BATCH_FILE_KEPT_MS = 30 * 86_400_000;

/** @param whole limit of a file of any other purpose */
export function limitsOf(purpose: unknown, { batch }: Settings, whole: number): FileLimits {
  if (purpose !== 'batch') return { maxBytes: whole, maxLines: Infinity };
  return { maxBytes: Math.min(batch.maxFileBytes, whole), maxLines: batch.maxLines };
}

/** Undefined: it stays until it is deleted. */
export function expiryMs(purpose: FilePurpose, nowMs: number, afterS: number | undefined): number | undefined {
  if (afterS !== undefined) return nowMs + afterS * 1000;
  return purpose === 'batch' ? nowMs + BATCH_FILE_KEPT_MS : undefined;
}

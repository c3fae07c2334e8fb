import { type FilePurpose } from '../../../core/jobs/job.ports.js';
import { type Settings } from '../../../platform/config/settings.js';
import { type FileLimits } from './measured-bytes.js';

/** @param whole limit of a file of any other purpose */
export function limitsOf(purpose: unknown, { batch }: Settings, whole: number): FileLimits {
  if (purpose !== 'batch') return { maxBytes: whole, maxLines: Infinity };
  return { maxBytes: Math.min(batch.maxFileBytes, whole), maxLines: batch.maxLines };
}

/**
 * @param afterS seconds that the upload named
 * @param batchExpiryMs `files.batch_expiry_ms`; 0 = unlimited
 * @returns undefined: it stays until it is deleted
 */
export function expiryMs(
  { purpose, afterS }: { purpose: FilePurpose; afterS: number | undefined },
  nowMs: number,
  batchExpiryMs: number,
): number | undefined {
  if (afterS !== undefined) return nowMs + afterS * 1000;
  return purpose === 'batch' && batchExpiryMs > 0 ? nowMs + batchExpiryMs : undefined;
}

import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { syntheticModel } from '../../support/synthetic-model.js';

export const BENCH_MODEL = 'bench';

/**
 * What the scripted device costs; milliseconds of timer, no CPU, so a small machine
 * measures the scheduler alone.
 */
export interface SyntheticCost {
  /** Per engine call, whatever its size. */
  readonly groupMs: number;
  /** Per request before it is READY. */
  readonly prepMs?: number;
  readonly maxBatch: number;
  /** Added for each item of the call. */
  readonly itemMs?: number;
  /**
   * `pcm`: audio is decoded, and cut when it is long; default: files are taken
   * as they are.
   */
  readonly input?: 'pcm' | 'encoded';
  /**
   * How often an engine call looks for a cancel; default 0: before it starts only, as
   * a GPU kernel.
   */
  readonly checkEveryMs?: number;
}

export function benchModel({
  groupMs,
  itemMs = 0,
  prepMs = 0,
  maxBatch,
  checkEveryMs = 0,
  input = 'encoded',
}: SyntheticCost): ModelSpec {
  const steps = checkEveryMs === 0 ? 1 : Math.ceil(groupMs / checkEveryMs);
  return syntheticModel(
    { baseMs: groupMs, perItemMs: itemMs, prepareMs: prepMs, steps, maxBatch, input },
    { id: BENCH_MODEL },
  );
}

import { availableParallelism } from 'node:os';
import {
  type EngineModel,
  EngineOptions,
} from '@switchyard/engine-api/engine-options.js';

export interface PocketSphinxOptions {
  /**
   * Files decoded at the same time, one decoder thread of about 100 MB each; also
   * the largest group.
   */
  readonly threads: number;
  /** Live streams at the same time, about 100 MB each, started when first used. */
  readonly streams: number;
  /** Folder with `en-us/` (acoustic model), `en-us.lm.bin` and `cmudict-en-us.dict`. */
  readonly modelDir: string;
}

/**
 * A group of one is no group: more than 8 would cost memory that a small machine
 * does not have.
 */
const allCores = (): number => Math.min(8, availableParallelism());

const DEBIAN_MODEL_DIR = '/usr/share/pocketsphinx/model/en-us';

export function readPocketSphinxOptions(spec: EngineModel): PocketSphinxOptions {
  const options = new EngineOptions(spec);
  const read: PocketSphinxOptions = {
    threads: options.integer('threads', { min: 1, max: 64, fallback: allCores() }),
    streams: options.integer('streams', { min: 0, max: 64, fallback: 2 }),
    modelDir: options.text('modelDir', DEBIAN_MODEL_DIR),
  };
  options.done();
  return read;
}

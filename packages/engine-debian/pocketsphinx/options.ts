import { availableParallelism } from 'node:os';
import {
  type EngineModel,
  integerOption,
  type OptionsOf,
  readOptions,
  textOption,
} from '@switchyard/engine-api/engine-options.js';

/**
 * A group of one is no group: more than 8 would cost memory that a small machine
 * does not have.
 */
const allCores = (): number => Math.min(8, availableParallelism());

const RULES = {
  // Files decoded at the same time, one decoder thread of about 100 MB each; also the
  // largest group.
  threads: integerOption(1, 64, allCores()),
  // Live streams at the same time, about 100 MB each, started when first used.
  streams: integerOption(0, 64, 2),
  // Folder with `en-us/` (acoustic model), `en-us.lm.bin` and `cmudict-en-us.dict`.
  modelDir: textOption('/usr/share/pocketsphinx/model/en-us'),
};

export type PocketSphinxOptions = OptionsOf<typeof RULES>;

/** @throws EngineOptionsError */
export const readPocketSphinxOptions = (model: EngineModel): PocketSphinxOptions =>
  readOptions(model, RULES);

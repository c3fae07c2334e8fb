import {
  choiceOption,
  integerOption,
  numberOption,
  optionOf,
  type OptionsOf,
  readOptions,
  textOption,
} from '@switchyard/engine-api/engine-options.js';
import { z } from 'zod';
import { type ModelSpec } from '../../../platform/config/model-spec.js';

/**
 * `fail`: this item fails. `slow`: the call lasts `ms` longer. `hang`: the call never
 * ends. `crash`: the process dies at once. `linger`: a live stream keeps its place for
 * `ms` after it was closed.
 */
const FAULT_ACTIONS = ['fail', 'slow', 'hang', 'crash', 'linger'] as const;

const LONGEST_MS = 3_600_000;
const milliseconds = () => numberOption(0, LONGEST_MS, 0);

/** Strikes every item whose audio bytes (or text, or JSON body) contain `marker`. */
const FAULT = z.strictObject({
  marker: z.string().min(1),
  action: z.literal(FAULT_ACTIONS),
  // For `slow` and `linger`.
  ms: z.number().min(0).max(LONGEST_MS).default(0),
  // Generation: it strikes when so many tokens are out; else at once.
  afterTokens: z.int().min(0).default(0),
});
export type ScriptedFault = z.output<typeof FAULT>;

/** Value of `loadError` for a model that loads. */
export const NO_ERROR = 'none';

const RULES = {
  // An engine call of n items takes `baseMs + perItemMs * n` milliseconds; both 0: no
  // time and no timer.
  baseMs: milliseconds(),
  perItemMs: milliseconds(),
  // Share of the cost by which calls differ; the same sequence in every process.
  jitter: numberOption(0, 1, 0),
  // Of preparation per item, before the device and in parallel.
  prepareMs: milliseconds(),
  // From the start until it takes work; with `loadError`, until it fails with that.
  loadMs: milliseconds(),
  loadError: textOption(NO_ERROR),
  // Parts of a call; a cancel is noticed, and speech leaves, at the end of each.
  steps: integerOption(1, 10_000, 1),
  maxBatch: integerOption(1, 1024, 8),
  maxConcurrent: integerOption(1, 64, 1),
  // `encoded`: files untouched, so nothing is decoded. `pcm`: as most engines, samples
  // at 16 kHz.
  input: choiceOption(['encoded', 'pcm'], 'encoded'),
  streams: integerOption(0, 1024, 0),
  // Pace of synthetic speech at speed 1.
  charactersPerSecond: numberOption(1, 1000, 15),
  // Generation: for each token after the first, which takes `baseMs + perItemMs`.
  perTokenMs: milliseconds(),
  // Generation: tokens of an answer, unless its request wants fewer.
  tokens: integerOption(1, 1_000_000, 16),
  // Length of a vector, unless its request wants another.
  dimensions: integerOption(1, 16_384, 8),
  faults: optionOf(
    z.array(FAULT),
    `a list of {marker: text, action: ${FAULT_ACTIONS.join(' | ')}, ` +
      `ms: 0 to ${LONGEST_MS}, afterTokens: 0 or more}`,
    [],
  ),
  // What it reports; nothing is computed anywhere.
  device: textOption('none'),
};

export type SyntheticOptions = OptionsOf<typeof RULES>;

/** @throws EngineOptionsError */
export const readSyntheticOptions = (model: ModelSpec): SyntheticOptions =>
  readOptions(model, RULES);

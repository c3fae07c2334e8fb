import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { EngineOptions } from '@switchyard/engine-api/engine-options.js';

/**
 * `fail`: this item fails. `slow`: the call lasts `ms` longer. `hang`: the call never
 * ends. `crash`: the process dies at once. `linger`: a live stream keeps its place for
 * `ms` after it was closed.
 */
const FAULT_ACTIONS = ['fail', 'slow', 'hang', 'crash', 'linger'] as const;
export type FaultAction = (typeof FAULT_ACTIONS)[number];

/** Strikes every item whose audio bytes (or text, or JSON body) contain `marker`. */
export interface ScriptedFault {
  readonly marker: string;
  readonly action: FaultAction;
  /** Milliseconds, for `slow` and `linger`. */
  readonly ms: number;
  /** Generation: it strikes when so many tokens are out; else at once. */
  readonly afterTokens: number;
}

export interface SyntheticOptions {
  /**
   * An engine call of n items takes `baseMs + perItemMs * n` milliseconds; both 0: no
   * time and no timer.
   */
  readonly baseMs: number;
  readonly perItemMs: number;
  /**
   * Share of the cost by which calls differ, 0..1; the same sequence in every process.
   */
  readonly jitter: number;
  /** Milliseconds of preparation per item, before the device and in parallel. */
  readonly prepareMs: number;
  /** Parts of a call; a cancel is noticed, and speech leaves, at the end of each. */
  readonly steps: number;
  readonly maxBatch: number;
  readonly maxConcurrent: number;
  readonly streams: number;
  /**
   * `encoded`: files untouched, so nothing is decoded. `pcm`: as most engines, samples
   * at 16 kHz.
   */
  readonly input: 'encoded' | 'pcm';
  /** Pace of synthetic speech at speed 1. */
  readonly charactersPerSecond: number;
  /**
   * Generation: milliseconds per token after the first, which takes `baseMs + perItemMs`.
   */
  readonly perTokenMs: number;
  /** Generation: tokens of an answer, unless its request wants fewer. */
  readonly tokens: number;
  /** Length of a vector, unless its request wants another. */
  readonly dimensions: number;
  readonly faults: readonly ScriptedFault[];
  /** Only told again: nothing is computed anywhere. */
  readonly device: string;
}

const MILLISECONDS = { min: 0, max: 3_600_000, fallback: 0 };

export function readSyntheticOptions(spec: ModelSpec): SyntheticOptions {
  const options = new EngineOptions(spec);
  const read: SyntheticOptions = {
    baseMs: options.number('baseMs', MILLISECONDS),
    perItemMs: options.number('perItemMs', MILLISECONDS),
    jitter: options.number('jitter', { min: 0, max: 1, fallback: 0 }),
    prepareMs: options.number('prepareMs', MILLISECONDS),
    steps: options.integer('steps', { min: 1, max: 10_000, fallback: 1 }),
    maxBatch: options.integer('maxBatch', { min: 1, max: 1024, fallback: 8 }),
    maxConcurrent: options.integer('maxConcurrent', { min: 1, max: 64, fallback: 1 }),
    input: options.choice('input', ['encoded', 'pcm'], 'encoded'),
    streams: options.integer('streams', { min: 0, max: 1024, fallback: 0 }),
    charactersPerSecond: options.number('charactersPerSecond', {
      min: 1,
      max: 1000,
      fallback: 15,
    }),
    perTokenMs: options.number('perTokenMs', MILLISECONDS),
    tokens: options.integer('tokens', { min: 1, max: 1_000_000, fallback: 16 }),
    dimensions: options.integer('dimensions', { min: 1, max: 16_384, fallback: 8 }),
    faults: readFaults(options),
    device: options.text('device', 'none'),
  };
  options.done();
  return read;
}

function readFaults(options: EngineOptions): ScriptedFault[] {
  const value = options.raw('faults') ?? [];
  const faults = Array.isArray(value) ? value.map(toFault) : [undefined];
  if (faults.every(fault => fault !== undefined)) return faults;
  const allowed =
    `a list of {marker: text, action: ${FAULT_ACTIONS.join(' | ')}, ` +
    `ms: 0 to ${MILLISECONDS.max}, afterTokens: 0 or more}`;
  options.reject('faults', value, allowed);
  return [];
}

function toFault(value: unknown): ScriptedFault | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const {
    marker,
    action,
    ms = 0,
    afterTokens = 0,
    ...unknownFields
  } = value as Record<string, unknown>;
  const known = FAULT_ACTIONS.find(name => name === action);
  if (typeof marker !== 'string' || marker === '' || known === undefined)
    return undefined;
  if (typeof ms !== 'number' || !(ms >= 0 && ms <= MILLISECONDS.max)) return undefined;
  if (
    typeof afterTokens !== 'number' ||
    !Number.isInteger(afterTokens) ||
    afterTokens < 0
  )
    return undefined;
  if (Object.keys(unknownFields).length > 0) return undefined;
  return { marker, action: known, ms, afterTokens };
}

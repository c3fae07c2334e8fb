import { type EngineObjection } from '../../platform/config/models-file.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { createEngine } from './engine-factory.js';
import { type WorkerEngine } from './engine.js';
import { EngineOptionsError } from './engine-options.js';

/**
 * What the engine of a model finds wrong with it, before any worker starts: the boot can then name file and line. A model
 * that only runs elsewhere is left alone: its options are those of its own worker.
 */
export function engineObjections(model: ModelSpec): readonly EngineObjection[] {
  if (model.replicas === 0) return [];
  try {
    return loudnessObjections(model, createEngine(model));
  } catch (error) {
    if (!(error instanceof EngineOptionsError)) throw error;
    return error.problems.map(objection);
  }
}

/** An engine that takes the untouched file hears it as loud as it is. */
const loudnessObjections = ({ engine, loudness }: ModelSpec, created: WorkerEngine): readonly EngineObjection[] =>
  loudness === 'normalise' && !(created.kind === 'stt' && created.input === 'pcm')
    ? [{ path: 'loudness', message: `is normalise; allowed: off, as ${engine} does not take decoded audio` }]
    : [];

/** `options.threads is 0; allowed: …` → path and the rest. */
function objection(problem: string): EngineObjection {
  const [path = ''] = problem.split(' ', 1);
  return { path, message: problem.slice(path.length + 1) };
}

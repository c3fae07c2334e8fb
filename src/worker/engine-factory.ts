import { EngineOptionsError } from '@switchyard/engine-api/engine-options.js';
import { ENGINE_KINDS } from '../platform/config/model-fields.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type EngineCheck } from '../platform/config/models-file.js';
import { enginePackage } from './engines/load-package.js';
import { OpenAiHttpEmbedder } from './engines/openai-http/embedder.js';
import { OpenAiHttpGenerator } from './engines/openai-http/generator.js';
import {
  readOpenAiHttpOptions,
  readOpenAiHttpSpeechOptions,
} from './engines/openai-http/options.js';
import { OpenAiHttpRecognizer } from './engines/openai-http/recognizer.js';
import { OpenAiHttpSynthesizer } from './engines/openai-http/synthesizer.js';
import { SyntheticEmbedder } from './engines/synthetic/embedder.js';
import { SyntheticGenerator } from './engines/synthetic/generator.js';
import { readSyntheticOptions } from './engines/synthetic/options.js';
import { SyntheticRecognizer } from './engines/synthetic/recognizer.js';
import { SyntheticSynthesizer } from './engines/synthetic/synthesizer.js';
import { type WorkerEngine } from './engines/worker-engine.js';
import { ContinuousGenerator } from './generation/continuous-generator.js';

/**
 * What the engine of a model finds wrong with it, before any worker starts: the boot can
 * then name file and line. A model of ours that only runs elsewhere is left alone: its
 * options are those of its own worker.
 */
function objectionsTo(model: ModelSpec): ReturnType<EngineCheck> {
  try {
    if (model.engine === 'external') {
      externalDiarizer(model);
      return loudnessObjections(model);
    }
    if (model.replicas === 0) return [];
    return loudnessObjections(model, createEngine(model));
  } catch (error) {
    if (!(error instanceof EngineOptionsError)) throw error;
    return error.problems.map(objection);
  }
}

/**
 * What tells the speakers of a worker that is not ours apart, if there are models for it.
 * @throws EngineOptionsError
 */
export const externalDiarizer = (model: ModelSpec) =>
  enginePackage('sherpa-onnx').createDiarizer(model);

/** What `checkFiles` of the engine says. @throws Error that says what is missing */
function checkEngineFiles(model: ModelSpec): string | undefined {
  if (model.engine !== 'external')
    return model.replicas === 0 ? undefined : createEngine(model).checkFiles?.();
  externalDiarizer(model)?.checkFiles();
  return undefined;
}

/** What programs that read models files ask the engines. */
export const ENGINE_CHECKS = {
  objections: objectionsTo,
  checkFiles: checkEngineFiles,
};

/** An engine that takes the untouched file hears it as loud as it is. */
const loudnessObjections = (
  { engine, loudness }: ModelSpec,
  created?: WorkerEngine,
): ReturnType<EngineCheck> =>
  loudness === 'normalise' && !(created?.kind === 'stt' && created.input === 'pcm')
    ? [
        {
          path: 'loudness',
          message: `is normalise; allowed: off, as ${engine} does not take decoded audio`,
        },
      ]
    : [];

/** `options.threads is 0; allowed: …` → path and the rest. */
function objection(problem: string) {
  const [path = ''] = problem.split(' ', 1);
  return { path, message: problem.slice(path.length + 1) };
}

/**
 * The engine of a model, its options checked, nothing loaded yet: native libraries and
 * models come in with `load()`, on the engine's own threads, so an engine that is not
 * installed costs the others nothing. Throws EngineOptionsError.
 */
export function createEngine(spec: ModelSpec): WorkerEngine {
  const { id, engine, kind } = spec;
  const kinds = ENGINE_KINDS[engine];
  if (!kinds.includes(kind))
    throw new EngineOptionsError(id, [
      `kind is '${kind}'; allowed for engine ${engine}: ${kinds.join(', ')}`,
    ]);
  switch (spec.engine) {
    case 'openai-http':
      return OPENAI_HTTP[spec.kind](spec);
    case 'synthetic':
      return new SYNTHETIC[spec.kind](readSyntheticOptions(spec));
    case 'external':
      throw new EngineOptionsError(spec.id, ['engine external is a program of its own']);
    default: {
      const made = enginePackage(spec.engine).createEngine(spec);
      if ('kind' in made) return made;
      return new ContinuousGenerator({ backend: made, engine: spec.engine });
    }
  }
}

const OPENAI_HTTP: Readonly<Record<ModelSpec['kind'], (spec: ModelSpec) => WorkerEngine>> = {
  stt: spec => new OpenAiHttpRecognizer(readOpenAiHttpOptions(spec)),
  tts: spec => new OpenAiHttpSynthesizer(readOpenAiHttpSpeechOptions(spec)),
  llm: spec => new OpenAiHttpGenerator(readOpenAiHttpOptions(spec)),
  embedding: spec => new OpenAiHttpEmbedder(readOpenAiHttpOptions(spec)),
};

const SYNTHETIC = {
  stt: SyntheticRecognizer,
  tts: SyntheticSynthesizer,
  llm: SyntheticGenerator,
  embedding: SyntheticEmbedder,
};

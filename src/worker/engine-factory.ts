import { type ModelSpec } from '../platform/config/model-spec.js';
import { type EngineObjection } from '../platform/config/models-file.js';
import { ContinuousGenerator } from './generation/continuous-generator.js';
import { EngineOptions, EngineOptionsError } from './engines/engine-options.js';
import { SherpaDiarizer } from './engines/sherpa/diarizer.js';
import { FliteSynthesizer } from './engines/flite/synthesizer.js';
import { LlamaBackend } from './engines/llama-cpp/backend.js';
import { LlamaEmbedder } from './engines/llama-cpp/embedder.js';
import { readLlamaEmbeddingOptions, readLlamaOptions } from './engines/llama-cpp/options.js';
import { OpenAiHttpEmbedder } from './engines/openai-http/embedder.js';
import { OpenAiHttpGenerator } from './engines/openai-http/generator.js';
import {
  readOpenAiHttpOptions,
  readOpenAiHttpSpeechOptions,
  readOpenAiHttpTextOptions,
} from './engines/openai-http/options.js';
import { OpenAiHttpRecognizer } from './engines/openai-http/recognizer.js';
import { OpenAiHttpSynthesizer } from './engines/openai-http/synthesizer.js';
import { readPocketSphinxOptions } from './engines/pocketsphinx/options.js';
import { PocketSphinxRecognizer } from './engines/pocketsphinx/recognizer.js';
import { readDiarization, readSherpaOptions, readSherpaSpeechOptions } from './engines/sherpa/options.js';
import { SherpaRecognizer } from './engines/sherpa/recognizer.js';
import { SherpaSynthesizer } from './engines/sherpa/synthesizer.js';
import { SyntheticEmbedder } from './engines/synthetic/embedder.js';
import { SyntheticGenerator } from './engines/synthetic/generator.js';
import { readSyntheticOptions } from './engines/synthetic/options.js';
import { SyntheticRecognizer } from './engines/synthetic/recognizer.js';
import { SyntheticSynthesizer } from './engines/synthetic/synthesizer.js';
import { type WorkerEngine } from './engines/worker-engine.js';

/**
 * What the engine of a model finds wrong with it, before any worker starts: the boot can then name file and line. A
 * model of ours that only runs elsewhere is left alone: its options are those of its own worker.
 */
export function engineObjections(model: ModelSpec): readonly EngineObjection[] {
  try {
    if (model.engine === 'external') return externalObjections(model);
    if (model.replicas === 0) return [];
    return loudnessObjections(model, createEngine(model));
  } catch (error) {
    if (!(error instanceof EngineOptionsError)) throw error;
    return error.problems.map(objection);
  }
}

function externalObjections(model: ModelSpec): readonly EngineObjection[] {
  externalDiarizer(model);
  return loudnessObjections(model);
}

/**
 * A program that is not ours is configured by its command; options say what stands beside it.
 * @returns what tells its speakers apart, if there are models for it. Throws EngineOptionsError.
 */
export function externalDiarizer(model: ModelSpec): SherpaDiarizer | undefined {
  const options = new EngineOptions(model);
  options.text('device', 'cpu');
  const diarization = model.kind === 'stt' ? readDiarization(options) : undefined;
  options.done();
  return diarization && new SherpaDiarizer(diarization);
}

/** What `checkFiles` of the engine says. @throws Error that says what is missing */
export function checkEngineFiles(model: ModelSpec): string | undefined {
  if (model.engine !== 'external') return model.replicas === 0 ? undefined : createEngine(model).checkFiles?.();
  externalDiarizer(model)?.checkFiles();
  return undefined;
}

/** An engine that takes the untouched file hears it as loud as it is. */
const loudnessObjections = ({ engine, loudness }: ModelSpec, created?: WorkerEngine): readonly EngineObjection[] =>
  loudness === 'normalise' && !(created?.kind === 'stt' && created.input === 'pcm')
    ? [{ path: 'loudness', message: `is normalise; allowed: off, as ${engine} does not take decoded audio` }]
    : [];

/** `options.threads is 0; allowed: …` → path and the rest. */
function objection(problem: string): EngineObjection {
  const [path = ''] = problem.split(' ', 1);
  return { path, message: problem.slice(path.length + 1) };
}

/** The engine of a model in a GGUF file: text, or vectors. Throws EngineOptionsError. */
export function llamaEngine(spec: ModelSpec): WorkerEngine {
  if (spec.kind === 'embedding') return new LlamaEmbedder(readLlamaEmbeddingOptions(spec));
  const options = readLlamaOptions(spec);
  const { stepTargetMs } = options;
  return new ContinuousGenerator({
    ...{ backend: new LlamaBackend(options), engine: 'llama-cpp' },
    ...(stepTargetMs !== undefined && { stepTargetMs }),
  });
}

/**
 * The engine of a model, its options checked, nothing loaded yet. Imports are light on purpose: native libraries and
 * models come in with `load()`, on the engine's own threads, so an engine that is not installed costs the others
 * nothing. Throws EngineOptionsError.
 */
export function createEngine(spec: ModelSpec): WorkerEngine {
  switch (spec.engine) {
    case 'pocketsphinx':
      requireKind(spec, 'stt');
      return new PocketSphinxRecognizer(readPocketSphinxOptions(spec));
    case 'flite':
      requireKind(spec, 'tts');
      new EngineOptions(spec).done();
      return new FliteSynthesizer();
    case 'llama-cpp':
      return llamaEngine(spec);
    case 'openai-http':
      return openAiHttpEngine(spec);
    case 'sherpa-onnx':
      return spec.kind === 'stt'
        ? new SherpaRecognizer(readSherpaOptions(spec))
        : new SherpaSynthesizer(readSherpaSpeechOptions(spec));
    case 'external':
      throw new EngineOptionsError(spec.id, ['engine external is a program of its own']);
    case 'synthetic':
      return syntheticEngine(spec);
  }
}

function openAiHttpEngine(spec: ModelSpec): WorkerEngine {
  switch (spec.kind) {
    case 'stt':
      return new OpenAiHttpRecognizer(readOpenAiHttpOptions(spec));
    case 'tts':
      return new OpenAiHttpSynthesizer(readOpenAiHttpSpeechOptions(spec));
    case 'llm':
      return new OpenAiHttpGenerator(readOpenAiHttpTextOptions(spec));
    case 'embedding':
      return new OpenAiHttpEmbedder(readOpenAiHttpOptions(spec));
  }
}

function syntheticEngine(spec: ModelSpec): WorkerEngine {
  const options = readSyntheticOptions(spec);
  switch (spec.kind) {
    case 'stt':
      return new SyntheticRecognizer(options);
    case 'tts':
      return new SyntheticSynthesizer(options);
    case 'llm':
      return new SyntheticGenerator(options);
    case 'embedding':
      return new SyntheticEmbedder(options);
  }
}

function requireKind(spec: ModelSpec, kind: ModelSpec['kind']): void {
  if (spec.kind === kind) return;
  throw new EngineOptionsError(spec.id, [`kind is '${spec.kind}'; allowed for engine ${spec.engine}: ${kind}`]);
}

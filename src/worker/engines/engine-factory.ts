import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type WorkerEngine } from './engine.js';
import { EngineOptions, EngineOptionsError } from './engine-options.js';
import { FliteSynthesizer } from './flite/synthesizer.js';
import { llamaEngine } from './llama-cpp/llama-engine.js';
import { OpenAiHttpEmbedder } from './openai-http/openai-http-embedder.js';
import { OpenAiHttpGenerator } from './openai-http/openai-http-generator.js';
import {
  readOpenAiHttpOptions,
  readOpenAiHttpSpeechOptions,
  readOpenAiHttpTextOptions,
} from './openai-http/openai-http-options.js';
import { OpenAiHttpRecognizer } from './openai-http/openai-http-recognizer.js';
import { OpenAiHttpSynthesizer } from './openai-http/openai-http-synthesizer.js';
import { readPocketSphinxOptions } from './pocketsphinx/pocketsphinx-options.js';
import { PocketSphinxRecognizer } from './pocketsphinx/recognizer.js';
import { readSherpaOptions, readSherpaSpeechOptions } from './sherpa/sherpa-options.js';
import { SherpaRecognizer } from './sherpa/sherpa-recognizer.js';
import { SherpaSynthesizer } from './sherpa/sherpa-synthesizer.js';
import { SyntheticEmbedder } from './synthetic/synthetic-embedder.js';
import { SyntheticGenerator } from './synthetic/synthetic-generator.js';
import { readSyntheticOptions } from './synthetic/synthetic-options.js';
import { SyntheticRecognizer } from './synthetic/synthetic-recognizer.js';
import { SyntheticSynthesizer } from './synthetic/synthetic-synthesizer.js';
import { WhisperOnnxRecognizer } from './whisper-onnx/recognizer.js';
import { readWhisperOnnxOptions } from './whisper-onnx/whisper-onnx-options.js';

/**
 * The engine of a model, its options checked, nothing loaded yet. Imports are light on purpose: native libraries and
 * models come in with `load()`, on the engine's own threads, so an engine that is not installed costs the others nothing.
 * Throws EngineOptionsError.
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
    case 'whisper-onnx':
      requireKind(spec, 'stt');
      return new WhisperOnnxRecognizer(readWhisperOnnxOptions(spec));
    case 'llama-cpp':
      return llamaEngine(spec);
    case 'openai-http':
      return openAiHttpEngine(spec);
    case 'sherpa-onnx':
      return spec.kind === 'stt'
        ? new SherpaRecognizer(readSherpaOptions(spec))
        : new SherpaSynthesizer(readSherpaSpeechOptions(spec));
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

import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type SpeechEngine } from './engine.js';
import { EngineOptions, EngineOptionsError } from './engine-options.js';
import { FliteSynthesizer } from './flite/synthesizer.js';
import { readOpenAiHttpOptions, readOpenAiHttpSpeechOptions } from './openai-http/openai-http-options.js';
import { OpenAiHttpRecognizer } from './openai-http/openai-http-recognizer.js';
import { OpenAiHttpSynthesizer } from './openai-http/openai-http-synthesizer.js';
import { readPocketSphinxOptions } from './pocketsphinx/pocketsphinx-options.js';
import { PocketSphinxRecognizer } from './pocketsphinx/recognizer.js';
import { readSherpaOptions, readSherpaSpeechOptions } from './sherpa/sherpa-options.js';
import { SherpaRecognizer } from './sherpa/sherpa-recognizer.js';
import { SherpaSynthesizer } from './sherpa/sherpa-synthesizer.js';
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
export function createEngine(spec: ModelSpec): SpeechEngine {
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
    case 'openai-http':
      return spec.kind === 'stt'
        ? new OpenAiHttpRecognizer(readOpenAiHttpOptions(spec))
        : new OpenAiHttpSynthesizer(readOpenAiHttpSpeechOptions(spec));
    case 'sherpa-onnx':
      return spec.kind === 'stt'
        ? new SherpaRecognizer(readSherpaOptions(spec))
        : new SherpaSynthesizer(readSherpaSpeechOptions(spec));
    case 'synthetic': {
      const options = readSyntheticOptions(spec);
      return spec.kind === 'stt' ? new SyntheticRecognizer(options) : new SyntheticSynthesizer(options);
    }
  }
}

function requireKind(spec: ModelSpec, kind: ModelSpec['kind']): void {
  if (spec.kind === kind) return;
  throw new EngineOptionsError(spec.id, [`kind is '${spec.kind}'; allowed for engine ${spec.engine}: ${kind}`]);
}

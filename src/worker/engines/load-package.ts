import { createRequire } from 'node:module';
import { type EngineModel } from '@switchyard/engine-api/engine-options.js';
import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type TextBackend } from '@switchyard/engine-api/text-backend.port.js';
import { type TextEmbedder } from '@switchyard/engine-api/text-embedder.js';
import type * as Sherpa from '@switchyard/engine-sherpa/engine.js';

const load = createRequire(import.meta.url);

/** The package of each engine that is not built in. */
const PACKAGES = {
  'sherpa-onnx': 'engine-sherpa',
  'llama-cpp': 'engine-llama-cpp',
} as const;

/** What `engine.js` of an engine package exports. */
interface EnginePackage {
  /** Checks the options of the model, and loads nothing. @throws EngineOptionsError */
  createEngine(
    model: EngineModel,
  ): SpeechRecognizer | SpeechSynthesizer | TextEmbedder | TextBackend;
}

/**
 * Loaded when a model asks for it: what an engine needs costs the others nothing. That of
 * `sherpa-onnx` also tells speakers apart and hears voice activity, for engines that do not.
 */
export const enginePackage = <Engine extends keyof typeof PACKAGES>(engine: Engine) =>
  load(`@switchyard/${PACKAGES[engine]}/engine.js`) as Engine extends 'sherpa-onnx'
    ? typeof Sherpa
    : EnginePackage;

import { type EngineModel } from './engine-options.js';
import { type SpeechRecognizer } from './speech-recognizer.js';
import { type SpeechSynthesizer } from './speech-synthesizer.js';
import { type TextBackend } from './text-backend.port.js';
import { type TextEmbedder } from './text-embedder.js';

/** What `engine.js` of an engine package exports. */
export interface EnginePackage {
  /** Checks the options of the model, and loads nothing. @throws EngineOptionsError */
  createEngine(
    model: EngineModel,
  ): SpeechRecognizer | SpeechSynthesizer | TextEmbedder | TextBackend;
}

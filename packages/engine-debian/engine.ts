import { type EngineModel, readOptions } from '@switchyard/engine-api/engine-options.js';
import { FliteSynthesizer } from './flite/synthesizer.js';
import { PocketSphinxRecognizer } from './pocketsphinx/recognizer.js';

/** The engine of Debian's packages that the model names. @throws EngineOptionsError */
export function createEngine(model: EngineModel): PocketSphinxRecognizer | FliteSynthesizer {
  if (model.engine === 'pocketsphinx') return new PocketSphinxRecognizer(model);
  readOptions(model, {});
  return new FliteSynthesizer();
}

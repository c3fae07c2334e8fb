import { type EngineModel } from '@switchyard/engine-api/engine-options.js';
import { SherpaDiarizer } from './diarizer.js';
import { readDiarizationOptions, readSherpaOptions, readSherpaSpeechOptions } from './options.js';
import { SherpaRecognizer } from './recognizer.js';
import { SherpaSynthesizer } from './synthesizer.js';

export { openVoiceActivity } from './voice-activity.js';

/** @throws EngineOptionsError */
export const createEngine = (model: EngineModel): SherpaRecognizer | SherpaSynthesizer =>
  model.kind === 'stt'
    ? new SherpaRecognizer(readSherpaOptions(model))
    : new SherpaSynthesizer(readSherpaSpeechOptions(model));

/**
 * A program that is not ours is configured by its command; options say what
 * stands beside it.
 * @returns what tells its speakers apart, if there are models for it.
 *   @throws EngineOptionsError
 */
export function createDiarizer(model: EngineModel): SherpaDiarizer | undefined {
  const options = readDiarizationOptions(model);
  return options && new SherpaDiarizer(options);
}

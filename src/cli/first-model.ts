import { ownName } from '@switchyard/engine-api/own-name.js';
import { engineVersion } from './engines/engine-packages.js';

/** Runs on every machine, with packages from npm alone. */
const FIRST = { engine: 'sherpa-onnx', model: 'sense-voice-small' } as const;

/** What to type where no model is configured yet, up to the first one. */
export function firstModelSteps(): readonly string[] {
  const engine =
    engineVersion(FIRST.engine) === undefined
      ? [`  ${ownName()} engines install ${FIRST.engine}`]
      : [];
  return [
    `  ${ownName()} models starter             # Whisper base, SmolLM2 135M and a voice; or one model:`,
    ...engine,
    `  ${ownName()} models add ${FIRST.model}       # or another one: ${ownName()} models search`,
  ];
}

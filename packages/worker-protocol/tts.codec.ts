import { invalidValue } from '@switchyard/engine-api/coded-error.js';
import { type CallEnvelope, decodeEnvelope, encodeEnvelope } from './call.codec.js';
import { type SynthesizeRequest, type SynthesizeResponse } from './generated/switchyard/v1/tts.js';
import { SPEECH_FORMATS, type SpeechParams } from './speech-format.js';

export {
  TextToSpeechClient as TextToSpeechStub,
  TextToSpeechService as textToSpeechDefinition,
  type TextToSpeechClient,
  type TextToSpeechServer,
  type SynthesizeRequest,
  type SynthesizeResponse,
} from './generated/switchyard/v1/tts.js';

/** One `Synthesize` call as both sides see it. */
export type SynthesizeCallFields = CallEnvelope & SpeechParams;

/** The stream in order: one header, audio, one done. */
export type SpeechMessage = NonNullable<SynthesizeResponse['message']>;

export const encodeSynthesizeCall = (call: SynthesizeCallFields): SynthesizeRequest => ({
  ...call,
  ...encodeEnvelope(call),
});

/** @throws EngineError `invalid_value` for what cannot be spoken */
export function decodeSynthesizeCall(message: SynthesizeRequest): SynthesizeCallFields {
  if (message.text.trim() === '') throw invalidValue('The text is empty.', 'text');
  if (!(message.speed >= 0.25 && message.speed <= 4))
    throw invalidValue(`speed is 0.25 to 4, not ${message.speed}.`, 'speed');
  const format = SPEECH_FORMATS.find(known => known === message.format);
  if (!format)
    throw invalidValue(
      `format must be one of ${SPEECH_FORMATS.join(', ')}; got "${message.format}"`,
      'format',
    );
  return { ...message, ...decodeEnvelope(message), format };
}

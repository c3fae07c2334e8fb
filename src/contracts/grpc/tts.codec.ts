import { SPEECH_FORMATS, type SpeechParams } from '../formats/speech.js';
import { type CallEnvelope, decodeEnvelope, encodeEnvelope } from './call.codec.js';
import {
  TextToSpeechClient,
  type SynthesizeRequest,
  type SynthesizeResponse,
} from './generated/switchyard/v1/tts.js';

export {
  TextToSpeechService as textToSpeechDefinition,
  type TextToSpeechClient,
  type TextToSpeechServer,
  type SynthesizeRequest,
  type SynthesizeResponse,
} from './generated/switchyard/v1/tts.js';

export const TextToSpeechStub = TextToSpeechClient;

/** One `Synthesize` call as both sides see it. */
export type SynthesizeCallFields = CallEnvelope & SpeechParams;

/** The stream in order: one header, audio, one done. */
export type SpeechMessage = NonNullable<SynthesizeResponse['message']>;
export type SpeechHeader = Extract<SpeechMessage, { $case: 'header' }>['value'];

export const encodeSynthesizeCall = (call: SynthesizeCallFields): SynthesizeRequest => ({
  ...call,
  ...encodeEnvelope(call),
});

/**
 * @throws RangeError when the format is none of `SPEECH_FORMATS`; the worker answers
 *   it as `invalid_value`.
 */
export function decodeSynthesizeCall(message: SynthesizeRequest): SynthesizeCallFields {
  const format = SPEECH_FORMATS.find(known => known === message.format);
  if (!format)
    throw new RangeError(
      `format must be one of ${SPEECH_FORMATS.join(', ')}; got "${message.format}"`,
    );
  return { ...message, ...decodeEnvelope(message), format };
}

import { SPEECH_FORMATS, type SpeechParams } from '../formats/speech.js';
import {
  type CallEnvelope,
  type CallExecution,
  corrected,
  decodeEnvelope,
  decodeExecution,
  encodeEnvelope,
  encodeExecution,
} from './call.codec.js';
import { TextToSpeechClient, type SynthesizeRequest, type SynthesizeResponse } from './generated/switchyard/v1/tts.js';

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
export type SpeechChunk =
  | { readonly kind: 'header'; readonly contentType: string; readonly sampleRate: number }
  | { readonly kind: 'audio'; readonly bytes: Buffer }
  | { readonly kind: 'done'; readonly durationS: number; readonly execution: CallExecution };

export const encodeSynthesizeCall = (call: SynthesizeCallFields): SynthesizeRequest => ({
  ...encodeEnvelope(call),
  text: call.text,
  voice: call.voice,
  speed: call.speed,
  format: call.format,
});

/** @throws RangeError when the format is none of `SPEECH_FORMATS`; the worker answers it as `invalid_value`. */
export function decodeSynthesizeCall(message: SynthesizeRequest): SynthesizeCallFields {
  const format = SPEECH_FORMATS.find(known => known === message.format);
  if (!format) throw new RangeError(`format must be one of ${SPEECH_FORMATS.join(', ')}; got "${message.format}"`);
  return { ...decodeEnvelope(message), text: message.text, voice: message.voice, speed: message.speed, format };
}

export function encodeSpeechChunk(chunk: SpeechChunk): SynthesizeResponse {
  switch (chunk.kind) {
    case 'header':
      return {
        message: { $case: 'header', value: { contentType: chunk.contentType, sampleRate: chunk.sampleRate } },
      };
    case 'audio':
      return { message: { $case: 'audio', value: chunk.bytes } };
    case 'done':
      return {
        message: {
          $case: 'done',
          value: { durationS: chunk.durationS, execution: encodeExecution(chunk.execution) },
        },
      };
  }
}

/** Undefined: a message of a newer worker that this gateway does not know. */
export function decodeSpeechChunk({ message }: SynthesizeResponse): SpeechChunk | undefined {
  switch (message?.$case) {
    case 'header':
      return { kind: 'header', ...message.value };
    case 'audio':
      return { kind: 'audio', bytes: message.value };
    case 'done':
      return {
        kind: 'done',
        durationS: corrected(message.value).durationS,
        execution: decodeExecution(message.value.execution),
      };
    case undefined:
      return undefined;
  }
}

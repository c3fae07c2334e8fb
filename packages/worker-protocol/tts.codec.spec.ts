import { describe, expect, it } from '@jest/globals';
import { SPEECH_FORMATS } from '@switchyard/worker-protocol/speech-format.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import {
  decodeSynthesizeCall,
  encodeSynthesizeCall,
  type SpeechMessage,
  textToSpeechDefinition,
} from './tts.codec.js';

const { requestSerialize, requestDeserialize, responseSerialize, responseDeserialize } =
  textToSpeechDefinition.synthesize;

const call = {
  requestId: 'r-1',
  priority: RequestPriority.REALTIME,
  group: { id: 'g-1', size: 1 },
  text: 'Grüße 🙂',
  voice: 'rms',
  speed: 1.25,
};

describe('Synthesize on the wire', () => {
  it.each(SPEECH_FORMATS)('carries a call for %s there and back', format => {
    const wire = requestSerialize(encodeSynthesizeCall({ ...call, format }));
    expect(decodeSynthesizeCall(requestDeserialize(wire))).toEqual({ ...call, format });
  });

  it('names the formats when asked for another one', () => {
    const message = { ...encodeSynthesizeCall({ ...call, format: 'wav' }), format: 'amr' };
    expect(() => decodeSynthesizeCall(message)).toThrow(
      'mp3, opus, aac, flac, wav, pcm; got "amr"',
    );
  });

  it.each<{ kind: string; message: SpeechMessage }>([
    {
      kind: 'header',
      message: { $case: 'header', value: { contentType: 'audio/mpeg', sampleRate: 24_000 } },
    },
    { kind: 'audio', message: { $case: 'audio', value: Buffer.from([0, 255, 1]) } },
    {
      kind: 'done',
      message: {
        $case: 'done',
        value: {
          durationS: 2.5,
          lateS: 0.25,
          execution: {
            prepMs: 0,
            readyWaitMs: 1,
            deviceMs: 30,
            batchSize: 2,
            batchId: 'b-1',
            shareMs: 0,
          },
        },
      },
    },
  ])('carries a chunk of the stream there and back: $kind', ({ message }) => {
    expect(responseDeserialize(responseSerialize({ message }))).toEqual({ message });
  });

  it('decodes an unknown chunk of a newer worker as undefined', () => {
    expect(responseDeserialize(Buffer.alloc(0)).message).toBeUndefined();
  });
});

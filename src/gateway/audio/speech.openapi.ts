import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { SPEECH_CONTENT_TYPES } from '@switchyard/worker-protocol/speech-format.js';
import { speechDelta, speechDone } from '../../contracts/formats/speech.js';
import { SpeechDto } from '../../contracts/openai/speech.dto.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';

const EXAMPLES = {
  wav: {
    summary: 'A WAV file',
    value: {
      model: 'tts-1',
      voice: 'alloy',
      input: 'The quick brown fox.',
      response_format: 'wav',
    },
  },
  mp3: {
    summary: 'MP3, a little faster',
    value: { model: 'tts-1', voice: 'alloy', input: 'Good morning.', speed: 1.25 },
  },
  events: {
    summary: 'Server-sent events',
    value: {
      model: 'tts-1',
      voice: 'alloy',
      input: 'Good morning.',
      response_format: 'pcm',
      stream_format: 'sse',
    },
  },
};

const AUDIO_EVENTS = {
  type: 'string',
  description:
    'With `stream_format: sse`: `data: {…}` per event, `speech.audio.delta` with audio in base64, then one ' +
    '`speech.audio.done`. A failure after the first event is the error envelope as the last one.',
};

const AUDIO_EVENTS_EXAMPLE = speechDelta(Buffer.alloc(6)) + speechDone(1.5);

/** OpenAPI of the speech route. */
export function DescribesSpeech(): MethodDecorator {
  const binary = { schema: { type: 'string', format: 'binary' } };
  const audio = Object.fromEntries(Object.values(SPEECH_CONTENT_TYPES).map(type => [type, binary]));
  return applyDecorators(
    ApiOperation({
      description: 'Chunked: the first bytes leave while the rest is still being made.',
    }),
    ApiConsumes('application/json'),
    ApiBody({ type: SpeechDto, examples: EXAMPLES }),
    DescribesRequestHeaders(),
    ApiOkResponse({
      description: 'The audio, or events with it in base64.',
      content: {
        ...audio,
        'text/event-stream': { schema: AUDIO_EVENTS, example: AUDIO_EVENTS_EXAMPLE },
      },
    }),
    DescribesErrors('invalid_json', 'voice_not_found', ...FIELD_ERRORS, ...QUEUE_ERRORS),
  );
}

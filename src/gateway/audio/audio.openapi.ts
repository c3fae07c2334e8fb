import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  getSchemaPath,
} from '@nestjs/swagger';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { formatTranscriptStream } from '../../contracts/formats/transcript-events.js';
import { type ErrorCode } from '../../core/errors/domain-error.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';
import { TranscriptDto } from './dto/transcript.dto.js';

export const UPLOAD_ERRORS = [
  'too_many_files',
  'empty_file',
  'invalid_audio',
  'audio_too_short',
  'file_url_refused',
  'file_url_unreachable',
  'invalid_multipart',
  'storage_full',
] as const satisfies readonly ErrorCode[];

const TEXT_EVENTS = {
  type: 'string',
  description:
    'With `stream=true`: `data: {…}` per event, `transcript.text.delta`, `transcript.text.segment` (with speakers), ' +
    'then one `transcript.text.done`, then `data: [DONE]`. A failure after the first event is the error envelope as ' +
    'the last one.',
};

const FOX = {
  text: 'the quick brown fox',
  durationS: 2.5,
  segments: [],
  language: 'en',
} as unknown as Transcript;

const TEXT_EVENTS_EXAMPLE = formatTranscriptStream(FOX);

const SUBTITLES =
  '1\n00:00:00,000 --> 00:00:02,500\nthe quick brown fox jumps over the lazy dog\n\n';

/** OpenAPI of a route that takes audio and answers with text. */
export function DescribesUpload({
  path,
  form,
  errors = [],
}: {
  readonly path: '/v1/audio/transcriptions' | '/v1/audio/translations';
  readonly form: Type;
  readonly errors?: readonly ErrorCode[];
}): MethodDecorator {
  return applyDecorators(
    ApiOperation({ description: curlFor(path) }),
    ApiConsumes('multipart/form-data'),
    ApiBody({ type: form }),
    ApiExtraModels(TranscriptDto),
    DescribesRequestHeaders(),
    ApiOkResponse({
      description: 'The transcript, in the `response_format` asked for.',
      content: {
        'application/json': { schema: { $ref: getSchemaPath(TranscriptDto) } },
        'text/plain': { schema: { type: 'string' }, example: SUBTITLES },
        'text/event-stream': { schema: TEXT_EVENTS, example: TEXT_EVENTS_EXAMPLE },
      },
    }),
    DescribesErrors(...FIELD_ERRORS, ...UPLOAD_ERRORS, ...errors, ...QUEUE_ERRORS),
  );
}

const curlFor = (path: string): string =>
  `\`curl -F file=@speech.wav -F model=whisper-1 http://localhost:8000${path}\``;

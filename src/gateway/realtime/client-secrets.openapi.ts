import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { DescribesErrors } from '../http/openapi/errors.js';

const GA_EXAMPLE = {
  expires_after: { anchor: 'created_at', seconds: 600 },
  session: {
    type: 'transcription',
    audio: { input: { transcription: { model: 'whisper-1', language: 'en' } } },
  },
};
const OLDER_EXAMPLE = {
  input_audio_format: 'pcm16',
  input_audio_transcription: { model: 'whisper-1' },
};

const describesSecret = (example: object, description: string): MethodDecorator =>
  applyDecorators(
    ApiBody({ schema: { type: 'object', example } }),
    DescribesErrors('model_not_found'),
    ApiOkResponse({ description }),
  );

/** OpenAPI of the route for tokens of sessions. */
export const DescribesSecret = (): MethodDecorator =>
  describesSecret(GA_EXAMPLE, '`value` is the token, `session` what its sessions begin with.');

/** OpenAPI of its older form. */
export const DescribesOlderSecret = (): MethodDecorator =>
  describesSecret(OLDER_EXAMPLE, '`client_secret.value` is the token.');

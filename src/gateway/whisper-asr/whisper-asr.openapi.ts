import { applyDecorators, HttpCode } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import { AsrFormDto } from '../../contracts/whisper-asr/asr.dto.js';
import { UPLOAD_ERRORS } from '../audio/audio.openapi.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';

export const describesAsr = (): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    ApiConsumes('multipart/form-data'),
    ApiBody({ type: AsrFormDto }),
    DescribesErrors('unsupported_task', ...FIELD_ERRORS, ...UPLOAD_ERRORS, ...QUEUE_ERRORS),
  );

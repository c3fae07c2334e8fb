import { applyDecorators, Controller, HttpCode, Post, Query, Res } from '@nestjs/common';
import { UPLOAD_ERRORS } from '../audio/audio.controllers.js';
import { ApiBody, ApiConsumes, ApiOkResponse } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import {
  AsrFormDto,
  AsrQueryDto,
  DetectedLanguageDto,
  DetectLanguageQueryDto,
} from '../../contracts/whisper-asr/asr.dto.js';
import { type FormSource } from '../http/multipart-form.js';
import { Form } from '../http/params.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { WhisperAsrService } from './whisper-asr.service.js';

const describesAsr = (): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    ApiConsumes('multipart/form-data'),
    ApiBody({ type: AsrFormDto }),
    DescribesErrors(
      'unsupported_task',
      ...FIELD_ERRORS,
      ...UPLOAD_ERRORS,
      ...QUEUE_ERRORS,
    ),
  );

@Controller()
export class WhisperAsrController {
  constructor(private readonly service: WhisperAsrService) {}

  @Post('asr')
  @describesAsr()
  @ApiOkResponse({
    description: 'The transcript, in the `output` asked for.',
    content: {
      'text/plain': { schema: { type: 'string' }, example: 'the quick brown fox\n' },
    },
  })
  transcribe(
    @Query() query: AsrQueryDto,
    @Form() form: FormSource,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.service.transcribe(query, form, reply);
  }

  @Post('detect-language')
  @describesAsr()
  @ApiOkResponse({ type: DetectedLanguageDto })
  detect(
    @Query() query: DetectLanguageQueryDto,
    @Form() form: FormSource,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.service.detectLanguage(query, form, reply);
  }
}

import { applyDecorators, Controller, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import {
  AsrFormDto,
  AsrQueryDto,
  DetectedLanguageDto,
  DetectLanguageQueryDto,
} from '../../contracts/whisper-asr/asr.dto.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { summaryOf } from '../http/openapi/route.decorator.js';
import { UPLOAD_ERRORS } from '../audio/audio.openapi.js';
import { WhisperAsrService } from './whisper-asr.service.js';

const describes = (path: string): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: summaryOf('POST', path) }),
    ApiConsumes('multipart/form-data'),
    ApiBody({ type: AsrFormDto }),
    DescribesErrors('unsupported_task', ...FIELD_ERRORS, ...UPLOAD_ERRORS, ...QUEUE_ERRORS),
  );

@ApiTags('audio')
@Controller()
export class WhisperAsrController {
  constructor(private readonly service: WhisperAsrService) {}

  @Post('asr')
  @HttpCode(200)
  @describes('/asr')
  @ApiOkResponse({
    description: 'The transcript, in the `output` asked for.',
    content: { 'text/plain': { schema: { type: 'string' }, example: 'the quick brown fox\n' } },
  })
  transcribe(@Query() query: AsrQueryDto, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.service.transcribe({ ...query }, request, reply);
  }

  @Post('detect-language')
  @HttpCode(200)
  @describes('/detect-language')
  @ApiOkResponse({ type: DetectedLanguageDto })
  detect(
    @Query() query: DetectLanguageQueryDto,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.service.detectLanguage({ ...query }, request, reply);
  }
}

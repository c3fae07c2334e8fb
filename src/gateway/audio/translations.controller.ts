import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { TranslationDto } from '../../contracts/openai/translation.dto.js';
import { DescribesUpload } from '../http/openapi/upload.decorator.js';
import { TranscriptionService } from './transcription.service.js';

@ApiTags('audio')
@Controller('v1/audio/translations')
export class TranslationsController {
  constructor(private readonly transcripts: TranscriptionService) {}

  @Post()
  @HttpCode(200)
  @DescribesUpload({ path: '/v1/audio/translations', form: TranslationDto, errors: ['unsupported_task'] })
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.transcripts.serve('translations', request, reply);
  }
}

import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { DescribesUpload } from '../http/openapi/upload.decorator.js';
import { TranscriptionService } from './transcription.service.js';

@ApiTags('audio')
@Controller('v1/audio/transcriptions')
export class TranscriptionsController {
  constructor(private readonly transcripts: TranscriptionService) {}

  @Post()
  @HttpCode(200)
  @DescribesUpload({ path: '/v1/audio/transcriptions', form: TranscriptionDto })
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.transcripts.serve('transcriptions', request, reply);
  }
}

import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { TranslationDto } from '../../contracts/openai/translation.dto.js';
import { DescribesSpeech, DescribesUpload } from './audio.openapi.js';
import { SpeechService } from './speech.service.js';
import { TranscriptionService } from './transcription.service.js';

@ApiTags('audio')
@Controller('v1/audio/speech')
export class SpeechController {
  constructor(private readonly speech: SpeechService) {}

  @Post()
  @HttpCode(200)
  @DescribesSpeech()
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.speech.serve(request, reply);
  }
}

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

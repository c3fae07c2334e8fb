import { Controller, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { TranslationDto } from '../../contracts/openai/translation.dto.js';
import { type FormSource } from '../http/multipart-form.js';
import { Form } from '../http/params.js';
import { DescribesUpload } from './audio.openapi.js';
import { parseTranscription, parseTranslation } from './parse-transcription.js';
import { TranscriptionService } from './transcription.service.js';

@Controller('v1/audio/translations')
export class TranslationsController {
  constructor(private readonly transcripts: TranscriptionService) {}

  @Post()
  @DescribesUpload({
    path: '/v1/audio/translations',
    form: TranslationDto,
    errors: ['unsupported_task'],
  })
  create(@Form() form: FormSource, @Res() reply: FastifyReply): Promise<void> {
    return this.transcripts.answer(form, reply, parseTranslation);
  }
}

@Controller('v1/audio/transcriptions')
export class TranscriptionsController {
  constructor(private readonly transcripts: TranscriptionService) {}

  @Post()
  @DescribesUpload({ path: '/v1/audio/transcriptions', form: TranscriptionDto })
  create(@Form() form: FormSource, @Res() reply: FastifyReply): Promise<void> {
    return this.transcripts.answer(form, reply, parseTranscription);
  }
}

import { Controller, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { TranscriptionDto } from '../../contracts/openai/transcription.dto.js';
import { TranslationDto } from '../../contracts/openai/translation.dto.js';
import { type FormSource } from '../http/multipart-form.js';
import { type JsonRequest } from '../http/json-body.js';
import { Form, JsonBody } from '../http/params.js';
import { DescribesSpeech, DescribesUpload } from './audio.openapi.js';
import { parseTranscription, parseTranslation } from './parse-transcription.js';
import { SpeechService } from './speech.service.js';
import { TranscriptionService } from './transcription.service.js';

@Controller('v1/audio/speech')
export class SpeechController {
  constructor(private readonly speech: SpeechService) {}

  @Post()
  @DescribesSpeech()
  create(@JsonBody() { fields }: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.speech.serve(fields, reply);
  }
}

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

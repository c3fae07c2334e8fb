import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { DescribesSpeech } from '../http/openapi/speech.decorator.js';
import { SpeechService } from './speech.service.js';

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

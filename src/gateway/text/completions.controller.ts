import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { DescribesChat, DescribesCompletion, DescribesEmbeddings } from './text.openapi.js';
import { EmbeddingsService } from './embeddings.service.js';
import { CompletionsService } from './completions.service.js';

@ApiTags('text')
@Controller('v1')
export class CompletionsController {
  constructor(
    private readonly generation: CompletionsService,
    private readonly embeddings: EmbeddingsService,
  ) {}

  @Post('chat/completions')
  @HttpCode(200)
  @DescribesChat()
  chat(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.generation.serve('chat', request, reply);
  }

  @Post('completions')
  @HttpCode(200)
  @DescribesCompletion()
  complete(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.generation.serve('completions', request, reply);
  }

  @Post('embeddings')
  @HttpCode(200)
  @DescribesEmbeddings()
  embed(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.embeddings.serve(request, reply);
  }
}

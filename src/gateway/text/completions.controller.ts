import { Controller, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import {
  DescribesChat,
  DescribesCompletion,
  DescribesEmbeddings,
} from './text.openapi.js';
import { EmbeddingsService } from './embeddings.service.js';
import { CompletionsService } from './completions.service.js';

@Controller('v1')
export class CompletionsController {
  constructor(
    private readonly generation: CompletionsService,
    private readonly embeddings: EmbeddingsService,
  ) {}

  @Post('chat/completions')
  @DescribesChat()
  chat(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.generation.serve('chat', body, reply);
  }

  @Post('completions')
  @DescribesCompletion()
  complete(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.generation.serve('completions', body, reply);
  }

  @Post('embeddings')
  @DescribesEmbeddings()
  embed(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.embeddings.serve(body, reply);
  }
}

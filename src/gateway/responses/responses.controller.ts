import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { DescribesInputTokens, DescribesResponses } from './responses.openapi.js';
import { ResponsesService } from './responses.service.js';

@ApiTags('text')
@Controller('v1/responses')
export class ResponsesController {
  constructor(private readonly responses: ResponsesService) {}

  @Post()
  @HttpCode(200)
  @DescribesResponses()
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.responses.create(request, reply);
  }

  @Post('input_tokens')
  @HttpCode(200)
  @DescribesInputTokens()
  countInput(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.responses.countInput(request, reply);
  }
}

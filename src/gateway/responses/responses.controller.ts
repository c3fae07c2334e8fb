import { Controller, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { DescribesInputTokens, DescribesResponses } from './responses.openapi.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { ResponsesService } from './responses.service.js';

@Controller('v1/responses')
export class ResponsesController {
  constructor(private readonly responses: ResponsesService) {}

  @Post()
  @DescribesResponses()
  create(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.responses.create(body, reply);
  }

  @Post('input_tokens')
  @DescribesInputTokens()
  countInput(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.responses.countInput(body, reply);
  }
}

import { Controller, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiConsumes } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { RerankDto, RerankingDto } from '../../../contracts/openai/rerank.dto.js';
import {
  DescribesErrors,
  FIELD_ERRORS,
  QUEUE_ERRORS,
} from '../../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../../http/openapi/route.decorator.js';
import { type JsonRequest } from '../../http/json-body.js';
import { JsonBody } from '../../http/params.js';
import { RerankService } from './rerank.service.js';

@Controller('v1/rerank')
export class RerankController {
  constructor(private readonly service: RerankService) {}

  @Post()
  @ApiConsumes('application/json')
  @ApiBody({ type: RerankDto })
  @DescribesRequestHeaders()
  @ApiOkResponse({ type: RerankingDto })
  @DescribesErrors('invalid_json', 'unsupported_task', ...FIELD_ERRORS, ...QUEUE_ERRORS)
  rerank(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.service.serve(body, reply);
  }
}

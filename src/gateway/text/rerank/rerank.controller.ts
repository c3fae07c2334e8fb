import { Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { RerankDto, RerankingDto } from '../../../contracts/openai/rerank.dto.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../../http/openapi/errors.js';
import { DescribesRequestHeaders, summaryOf } from '../../http/openapi/route.decorator.js';
import { RerankService } from './rerank.service.js';

@ApiTags('text')
@Controller('v1/rerank')
export class RerankController {
  constructor(private readonly service: RerankService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: summaryOf('POST', '/v1/rerank') })
  @ApiConsumes('application/json')
  @ApiBody({ type: RerankDto })
  @DescribesRequestHeaders()
  @ApiOkResponse({ type: RerankingDto })
  @DescribesErrors('invalid_json', 'unsupported_task', ...FIELD_ERRORS, ...QUEUE_ERRORS)
  rerank(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.service.serve(request, reply);
  }
}
